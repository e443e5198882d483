import { array, boolean, define, type Infer, object, refine } from 'superstruct';
import { optionally } from '../contract/described.js';
import { wholeNumber } from '../contract/whole-number.js';
import { findRepeated } from '../document/structs.js';
import { isHeaderName } from '../lib/secrets/credential-header.js';
import { isPageOrigin } from '../lib/web-origin.js';
import type { SettingKind } from './setting-kind.js';

export interface CorsSettings {
  /** Exact origins. */
  readonly origins: readonly string[];
  /** Request headers beyond those that are always allowed, in lower case. */
  readonly headers: readonly string[];
  /** How long a browser may keep the result of a preflight. Seconds. */
  readonly maxAgeSeconds: number;
  /** Whether browsers may send cookies and client certificates. */
  readonly credentials: boolean;
}

const DEFAULT_MAX_AGE_SECONDS = 600;
const ONE_DAY_SECONDS = 86_400;
const MAX_ORIGINS = 100;
const MAX_HEADERS = 100;

const exactOrigin = define<string>(
  'an origin such as https://app.example or capacitor://localhost, without a path or a wildcard',
  (value) => typeof value === 'string' && isPageOrigin(value),
);

const headerName = define<string>(
  'the name of a header',
  (value) => typeof value === 'string' && isHeaderName(value),
);

const origins = refine(
  array(exactOrigin),
  `a list of 1 to ${MAX_ORIGINS} distinct origins`,
  (list) => list.length > 0 && list.length <= MAX_ORIGINS && findRepeated(list) === null,
);

const mapping = object({
  origins,
  headers: optionally(
    refine(
      array(headerName),
      `a list of at most ${MAX_HEADERS} headers`,
      (list) => list.length <= MAX_HEADERS,
    ),
    {},
  ),
  max_age_s: optionally(wholeNumber(0, ONE_DAY_SECONDS), {}),
  credentials: optionally(boolean(), {}),
});

/** Origins separated by commas; in a configuration file a mapping. */
export const cors: SettingKind<CorsSettings> = {
  placeholder: 'origins',
  expected:
    'exact origins such as https://app.example, or in a file a mapping of origins, headers, max_age_s and credentials',
  fileType: 'string',
  struct: mapping,
  parse: (text) => parseMapping({ origins: text.split(',') }),
  parseValue: (value) => parseMapping(value),
};

function parseMapping(value: unknown): CorsSettings | undefined {
  if (!mapping.is(value)) return undefined;
  const settings: Infer<typeof mapping> = value;
  return {
    origins: settings.origins,
    headers: (settings.headers ?? []).map((name) => name.toLowerCase()),
    maxAgeSeconds: settings.max_age_s ?? DEFAULT_MAX_AGE_SECONDS,
    credentials: settings.credentials ?? false,
  };
}
