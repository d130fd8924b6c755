/**
 * What the guard does, as a script for any POSIX shell (dash, busybox, bash): `sh -c SCRIPT NAME MARK [PROC]`.
 *
 * It reads lines from its stdin, `+ GROUP` and `- GROUP`, and when that ends, because the host is gone, it ends every
 * process that belongs to a group on its list, carries the mark in its environment (Linux), or descends from such a
 * process: SIGTERM, 0.4 s later SIGKILL.
 *
 * K1. A line is obeyed only if it is whole and its number a plain one above 1, of nine digits at most: nothing else
 *     can become a target.
 * K2. Descendants are looked up before a signal is sent, while their parents still live; who was found once is found
 *     again, by number and start time, when his parent is dead.
 * K3. A group on the list whose number now belongs to a process with another start time is somebody else's.
 * K4. It needs no `ps` where there is a `/proc`; no numbers of processes are taken from text that a process can choose.
 * K5. Signals that reach a whole session or service do not end it: only SIGKILL does.
 *
 * MARK may be empty. PROC is where the process table is, `/proc` if not given; where it is not, `ps` is asked, and
 * neither marks nor start times are known.
 */
export const GUARD_SCRIPT = `# A guard of mcp-troupe: ends the MCP servers of a host that has died.
trap '' HUP INT QUIT PIPE TERM
mark=$1 proc=\${2:-/proc} groups=' ' seen=' '

look() { # PID: sets state, parent, group, start; empty where there is no such process
  text=
  while IFS= read -r line; do text=$text$line; done <"$proc/$1/stat"
  set -- \${text##*) }
  state=$1 parent=$2 group=$3 start=\${20}
}

living() { # prints PID/PARENT/GROUP/START for every process that is no zombie
  if [ -r "$proc/$$/stat" ]; then
    for entry in "$proc"/[0-9]*; do
      look "\${entry##*/}"
      case $state in '' | Z | X) ;; *) echo "\${entry##*/}/$parent/$group/$start" ;; esac
    done
  else
    ps -A -o pid= -o ppid= -o pgid= -o stat= | while read -r pid parent group state; do
      case $state in Z*) ;; *) echo "$pid/$parent/$group/" ;; esac
    done
  fi
}

marked() { # prints the numbers of the processes that carry the mark
  [ -n "$mark" ] || return
  for word in $(tail -n +1 "$proc"/[0-9]*/environ | tr '\\0' '\\n' | grep -e '^==> ' -e "^TROUPE_OWNER=$mark\\$"); do
    case $word in
      "$proc"/*) file=$word ;;
      TROUPE_OWNER=*) tr '\\0' '\\n' <"$file" | grep -qxF "$word" && file=\${file%/environ} && echo "\${file##*/}" ;;
    esac
  done
}

take_stock() { # sets known: gGROUP, mPID (marked), sPID:START (seen before), and pPID for each who is to end
  known=$seen
  for entry in $groups; do
    look "\${entry%:*}"
    case $start in '' | "\${entry#*:}") known="\${known}g\${entry%:*} " ;; esac
  done
  for pid in $(marked); do known="\${known}m$pid "; done
  table=$(living) before=
  until [ "$known" = "$before" ]; do
    before=$known
    for row in $table; do
      pid=\${row%%/*} start=\${row##*/}
      group=\${row%/*} group=\${group##*/} parent=\${row#*/} parent=\${parent%%/*}
      case $known in
        *" p$pid "*) ;;
        *" g$group "* | *" m$pid "* | *" s$pid:$start "* | *" p$parent "*)
          known="\${known}p$pid g$pid " seen="\${seen}s$pid:$start "
          ;;
      esac
    done
  done
}

send() { # SIGNAL: to whole groups first, so that nobody is born unseen
  targets=
  for word in $known; do
    case $word in
      g*) targets="$targets -\${word#g}" ;;
      p*) targets="$targets \${word#p}" ;;
    esac
  done
  kill -s "$1" -- $targets
}

while read -r word id; do
  case $id in '' | 0* | 1 | *[!0-9]* | ??????????*) continue ;; esac
  case $word in
    +) look "$id"; groups="$groups$id:$start " ;;
    -) case $groups in *" $id:"*) groups="\${groups%% "$id":*} \${groups#* "$id":* }" ;; esac ;;
  esac
done

for signal in TERM KILL KILL; do
  take_stock
  case $known in *' p'*) send $signal ;; *) exit 0 ;; esac
  sleep 0.4 || sleep 1
done
`;
