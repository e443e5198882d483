import { define, dynamic, enums, object, refine, unknown } from 'superstruct';
import { type AnyStruct, described, optionally, when } from '../contract/described.js';
import { matching } from '../document/structs.js';
import { isMapping } from '../lib/read-member.js';

const manifestUrl = described(
  define<string>('an http or https URL without credentials', isManifestUrl),
  {
    type: 'string',
    pattern: '^[hH][tT][tT][pP][sS]?://[^/?#@\\\\\\s]+(?:[/?#][^\\s]*)?$',
  },
);

const manifestPath = matching('a path that is not empty and has no NUL character', /^[^\0]+$/);

const notManifestSource = define<string>(
  "a path, or a mapping with one of 'inline', 'url' and 'from'",
  () => false,
);

const manifestMapping = described(
  refine(
    object({
      inline: optionally(unknown(), {
        $ref: 'manifest.schema.json',
        description: 'The manifest itself.',
      }),
      url: optionally(manifestUrl, { description: 'URL of a manifest in JSON or YAML.' }),
      from: optionally(enums(['provider']), { description: 'Requested from the provider.' }),
    }),
    "exactly one of 'inline', 'url' and 'from'",
    (value) => Object.keys(value).length === 1,
  ),
  { minProperties: 1, maxProperties: 1 },
);

export interface ManifestMapping {
  readonly inline?: unknown;
  readonly url?: string;
  readonly from?: 'provider';
}

/**
 * The source of a manifest. The struct is dynamic, because a union could not report which key of
 * the mapping is wrong.
 */
export const manifestSource = described(
  dynamic<string | ManifestMapping>((value): AnyStruct => {
    if (typeof value === 'string') return manifestPath;
    return isMapping(value) ? manifestMapping : notManifestSource;
  }),
  when({ type: 'string' }, manifestPath, manifestMapping),
);

function isManifestUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
