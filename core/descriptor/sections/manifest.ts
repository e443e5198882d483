import { define, dynamic, enums, object, refine, unknown } from 'superstruct';
import {
  type AnyStruct,
  described,
  matching,
  optionally,
  when,
  withDefault,
} from '../../contract/described.js';
import { isMapping, readMember } from '../../lib/read-member.js';
import { digest } from '../identifiers.js';
import { defineSection } from '../section.js';

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

type WrittenSource = string | ManifestMapping;

/**
 * The source of a manifest. The struct is dynamic, because a union could not report which key of
 * the mapping is wrong.
 */
const writtenSource = described(
  dynamic<WrittenSource>((value): AnyStruct => {
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

/** The source of the manifest; `path` and `url` as written. */
type ManifestSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly value: unknown }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'provider' };

export function createManifestSource(wire: WrittenSource): ManifestSource {
  if (typeof wire === 'string') return { kind: 'file', path: wire };
  if (wire.url !== undefined) return { kind: 'url', url: wire.url };
  if (wire.from !== undefined) return { kind: 'provider' };
  return { kind: 'inline', value: wire.inline };
}

export const manifest = defineSection({
  struct: withDefault(
    writtenSource,
    { from: 'provider' },
    {
      description:
        'Where the manifest is: a path relative to the descriptor, inline, behind a URL, or at the provider.',
    },
  ),
  validate: (accepted, { written, adapter }) => {
    if (createManifestSource(accepted).kind !== 'provider') return [];
    if (adapter === null || adapter.supports.manifest === true) return [];
    const why = `a provider of kind ${adapter.kind} has no manifest`;
    const message =
      readMember(written, 'manifest') === undefined
        ? `missing key 'manifest': ${why}`
        : `'manifest' must not be { from: provider }: ${why}`;
    const hint = 'name a file, a URL or an inline manifest';
    return [{ rule: 'manifest-unsupported', message, hint, path: ['manifest'], at: 'key' }];
  },
  complete: createManifestSource,
});

export const manifestDigest = defineSection({
  struct: optionally(digest, { description: 'A manifest with another digest is rejected.' }),
});
