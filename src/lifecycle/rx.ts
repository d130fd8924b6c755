/**
 * RxJS as far as the runtime needs it. Its main entry loads some two hundred files, which takes longer than everything
 * else of a start; these are the same classes and functions, and about twenty files.
 */
export { Observable } from 'rxjs/internal/Observable';
export { distinctUntilChanged } from 'rxjs/internal/operators/distinctUntilChanged';
export { filter } from 'rxjs/internal/operators/filter';
export { map } from 'rxjs/internal/operators/map';
