import type { SettingKind } from './setting-kind.js';

const EXPECTED = 'an origin such as https://gateway.example, without a path';

/** An origin exactly as browsers send it: scheme, lower-case host and no default port. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

export const origin: SettingKind<string> = {
  placeholder: 'origin',
  expected: EXPECTED,
  fileType: 'string',
  parse: (text) => (isOrigin(text) ? text : undefined),
};
