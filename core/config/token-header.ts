import { explainReservedHeader, isHeaderName } from '../lib/secrets/credential-header.js';
import type { SettingKind } from './setting-kind.js';

/** Headers with another syntax: credentials with a scheme, and cookies. */
const OTHER_FORM: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
]);

export const tokenHeader: SettingKind<string> = {
  placeholder: 'name',
  expected: 'the name of a header of its own, such as x-api-key',
  fileType: 'string',
  parse: (text) => {
    const name = text.toLowerCase();
    const isUsable = isHeaderName(name) && explainReservedHeader(name) === null;
    return isUsable && !OTHER_FORM.has(name) ? name : undefined;
  },
};
