import { run } from './run.mjs';

run('.').then((result) => console.log(JSON.stringify(result)));
