import { isOrigin } from '../lib/web-origin.js';
import type { SettingKind } from './setting-kind.js';

const EXPECTED = 'an origin such as https://gateway.example, without a path';

export const origin: SettingKind<string> = {
  placeholder: 'origin',
  expected: EXPECTED,
  fileType: 'string',
  parse: (text) => (isOrigin(text) ? text : undefined),
};
