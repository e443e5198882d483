import { fileURLToPath } from 'node:url';

/** The code as it is packed, if `npm test` has bundled it from this build; otherwise `null`. */
export const BUNDLE =
  process.env['MODGATE_TEST_BUNDLE'] === '1' ? toPath('../../../dist-package/lib') : null;

/** The host whose stack traces name the files of its code. */
export const UNBUNDLED_MAIN = toPath('../../core/main.js');

/** The host as it is packed, if it is: it starts in two thirds of the time. */
export const MAIN = BUNDLE === null ? UNBUNDLED_MAIN : `${BUNDLE}/core/main.js`;

function toPath(url: string): string {
  return fileURLToPath(new URL(url, import.meta.url));
}
