import {
  array,
  boolean,
  define,
  dynamic,
  enums,
  type Infer,
  literal,
  object,
  optional,
  refine,
  unknown,
} from 'superstruct';
import type { AnyStruct } from '../document/struct-walk.js';
import { matching, nonEmptyText, numberBetween, wholeNumber } from '../document/structs.js';
import { DESCRIPTOR_BOUNDS } from './defaults.js';
import { HEADER_NAME } from './forward-headers.js';
import { capability, digest, moduleName } from './identifiers.js';

const { limits, rate, retry, breaker, records, probation } = DESCRIPTOR_BOUNDS;

const manifestUrl = define<string>('an http or https URL without credentials', isManifestUrl);

const noManifestSource = define<string>(
  "a path, or a mapping with one of 'inline', 'url' and 'from'",
  () => false,
);

const manifestMapping = refine(
  object({
    inline: optional(unknown()),
    url: optional(manifestUrl),
    from: optional(enums(['provider'])),
  }),
  "exactly one of 'inline', 'url' and 'from'",
  (value) => Object.keys(value).length === 1,
);

/** A dynamic struct, since a union could not say which key of the mapping is wrong. */
const manifestSource = dynamic<string | Infer<typeof manifestMapping>>((value): AnyStruct => {
  if (typeof value === 'string') return nonEmptyText();
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMapping ? manifestMapping : noManifestSource;
});

/** The descriptor as it stands in the file (contract 6 and 9). */
export const descriptorStruct = object({
  apiVersion: optional(literal('modgate/v1')),
  module: moduleName,
  enabled: optional(boolean()),
  provider: object({ kind: nonEmptyText(), config: optional(unknown()) }),
  manifest: optional(manifestSource),
  manifest_digest: optional(digest),
  limits: optional(
    object({
      timeout_ms: optional(wholeNumber(...limits.timeout_ms)),
      request_bytes: optional(wholeNumber(...limits.request_bytes)),
      response_bytes: optional(wholeNumber(...limits.response_bytes)),
      concurrency: optional(wholeNumber(...limits.concurrency)),
      queue: optional(wholeNumber(...limits.queue)),
      queue_ms: optional(wholeNumber(...limits.queue_ms)),
    }),
  ),
  rate: optional(
    object({
      per_second: optional(numberBetween(...rate.per_second)),
      burst: optional(wholeNumber(...rate.burst)),
      actor_per_second: optional(numberBetween(...rate.actor_per_second)),
      actor_burst: optional(wholeNumber(...rate.actor_burst)),
    }),
  ),
  identity: optional(boolean()),
  forward_headers: optional(array(matching('the name of a header', HEADER_NAME))),
  provider_errors: optional(enums(['problem', 'passthrough'])),
  retry: optional(
    object({
      attempts: optional(wholeNumber(...retry.attempts)),
      budget: optional(numberBetween(...retry.budget)),
    }),
  ),
  breaker: optional(
    object({
      failures: optional(wholeNumber(...breaker.failures)),
      ratio: optional(numberBetween(...breaker.ratio)),
      window_ms: optional(wholeNumber(...breaker.window_ms)),
      open_ms: optional(wholeNumber(...breaker.open_ms)),
      max_open_ms: optional(wholeNumber(...breaker.max_open_ms)),
    }),
  ),
  records: optional(object({ capture_bytes: optional(wholeNumber(...records.capture_bytes)) })),
  probation: optional(
    object({
      seconds: optional(wholeNumber(...probation.seconds)),
      max_error_rate: optional(numberBetween(...probation.max_error_rate)),
      min_calls: optional(wholeNumber(...probation.min_calls)),
    }),
  ),
  console: optional(
    object({
      release: optional(digest),
      ui: optional(array(digest)),
      grants: optional(array(capability)),
    }),
  ),
});

export type WireDescriptor = Infer<typeof descriptorStruct>;

function isManifestUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
