/**
 * The parts of RxJS that the runtime needs. Its main entry loads some two hundred files, which takes longer than everything
 * else in a start; these are the same classes and functions, in about twenty files.
 *
 * RxJS 7.8 exports `rxjs/internal/*`; no other version is promised to, so the package depends on `~7.8`.
 */
export { Observable } from 'rxjs/internal/Observable';
export { Subscriber } from 'rxjs/internal/Subscriber';
export { distinctUntilChanged } from 'rxjs/internal/operators/distinctUntilChanged';
export { filter } from 'rxjs/internal/operators/filter';
export { map } from 'rxjs/internal/operators/map';
