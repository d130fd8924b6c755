/**
 * The script of the guard, for any POSIX shell (dash, busybox, bash): `sh -c SCRIPT NAME MARK [PROC]`.
 *
 * It reads the lines `+ GROUP` and `- GROUP` from its stdin. When its stdin ends, because the host is gone, it ends every
 * process that belongs to a group on its list, carries the mark in its environment (Linux), or descends from such a
 * process: SIGTERM, 0.4 s later SIGKILL. `~ GROUP SECONDS` gives a group on the list a limit, which replaces the one before:
 * when it is over, the group and its descendants are ended at once, with SIGKILL. `.` ends the guard, which then ends nothing.
 *
 * K1. A line counts only if it is whole and its number is a plain one above 1, of nine digits at most: nothing else can
 *     become a target.
 * K2. Descendants are looked up before a signal is sent, while their parents still live; a process that was found once is
 *     found again, by number and start time, after its parent has died.
 * K3. A group is skipped if its number now belongs to a process with another start time.
 * K4. It needs no `ps` if there is a `/proc`. It takes no process number from text that a process can choose: each environment
 *     is searched by itself, for a whole variable, and the number is the name of its folder. A mark counts only on a process
 *     of the guard's own user.
 * K5. Signals that reach a whole session or service do not end it: only SIGKILL does.
 * K6. A limit holds while the host is frozen: a process beside the guard waits for it. It ends with its group, with the next
 *     limit, and with the guard, and takes its waiting child with it. A group that has reached its limit is stopped before
 *     its descendants are looked up, so it does nothing meanwhile.
 *
 * MARK may be empty. PROC is the folder of the process table, `/proc` by default. If it does not exist, `ps` is used, and
 * marks and start times are unknown.
 */
export const GUARD_SCRIPT = `# A guard of mcp-troupe: ends the MCP servers of a host that has died.
trap '' HUP INT QUIT PIPE TERM
mark=$1 proc=\${2:-/proc} groups=' ' seen=' ' limits=' '

look() { # PID: sets state, parent, group, start; empty if there is no such process
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

carriers() { # prints the folders of the processes whose environment has the mark as a whole variable
  if printf 'x\\0y\\0' | grep -qzxF y; then # names of files, and nothing of their content
    grep -lzxF "TROUPE_OWNER=$mark" "$proc"/[0-9]*/environ
  else
    for file in "$proc"/[0-9]*/environ; do
      tr '\\n\\000' ' \\n' <"$file" | grep -qxF "TROUPE_OWNER=$mark" && echo "$file"
    done
  fi
}

marked() { # prints the numbers of the processes of this user that carry the mark
  [ -n "$mark" ] || return
  for file in $(carriers); do
    entry=\${file%/environ}
    [ -O "$entry" ] && echo "\${entry##*/}"
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

limit() { # GROUP:START SECONDS: waits beside the guard, then ends the group
  over= nap=
  trap 'over=1; [ -n "$nap" ] && kill -s KILL "$nap"' USR1
  for time in "$2" "\${2%.*}"; do # not every sleep takes fractions
    sleep "$time" & nap=$!
    [ -n "$over" ] && kill -s KILL "$nap"
    wait "$nap" && break
    [ -n "$over" ] && exit
  done
  look "\${1%:*}"
  case $start in '' | "\${1#*:}") ;; *) exit ;; esac
  kill -s STOP -- "-\${1%:*}"
  mark= groups=" $1 " seen=' '
  take_stock
  known="$known g\${1%:*} "
  send KILL
  exit
}

unlimit() { # GROUP
  case $limits in *" $1:"*) ;; *) return ;; esac
  timer=\${limits#* "$1":} timer=\${timer%% *}
  look "$timer"
  [ "$parent" = "$$" ] && kill -s USR1 "$timer"
  wait "$timer"
  limits="\${limits%% "$1":*} \${limits#* "$1":* }"
}

while read -r word id left; do
  case $word$id in
    .) for entry in $limits; do unlimit "\${entry%:*}"; done; exit 0 ;;
  esac
  case $word$left in '~'* | + | -) ;; *) continue ;; esac
  case $id in '' | 0* | 1 | *[!0-9]* | ??????????*) continue ;; esac
  case $word in
    +) look "$id"; groups="$groups$id:$start " ;;
    -) unlimit "$id"
       case $groups in *" $id:"*) groups="\${groups%% "$id":*} \${groups#* "$id":* }" ;; esac ;;
    '~') case $left in '' | *[!0-9.]*) continue ;; esac
       case $groups in
         *" $id:"*)
           unlimit "$id"
           entry=\${groups#* "$id":}
           limit "$id:\${entry%% *}" "$left" &
           limits="$limits$id:$! "
           ;;
       esac ;;
  esac
done
for entry in $limits; do unlimit "\${entry%:*}"; done

for signal in TERM KILL KILL; do
  take_stock
  case $known in *' p'*) send $signal ;; *) exit 0 ;; esac
  sleep 0.4 || sleep 1
done
`;
