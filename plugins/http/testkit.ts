import { defineSubject, startHttpReference, startUnixReference } from '../../core/testkit/index.js';
import { httpAdapter } from './http-adapter.js';
import { unixAdapter } from './unix-adapter.js';

export const subjects = [
  defineSubject({ adapter: httpAdapter, start: startHttpReference }),
  defineSubject({ adapter: unixAdapter, start: startUnixReference }),
];
