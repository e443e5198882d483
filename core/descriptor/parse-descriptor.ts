import type { NamedSigner } from '../contract/index.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  InvalidFile,
  type Locate,
  type Violation,
} from '../document/diagnostic.js';
import { readModuleProblems } from '../document/module-problems.js';
import { readStructuredText } from '../document/parse-document.js';
import type { TextLimits } from '../document/text-limits.js';
import { validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import { nextTurn } from '../lib/slices.js';
import { createDescriptor, type Descriptor } from './descriptor.js';
import { checkFurtherProviders } from './further-providers.js';
import type { DescriptorAdapter, DescriptorSigner, HostFacts, SectionContext } from './section.js';
import { createManifestSource } from './sections/manifest.js';
import type { Mount } from './sections/mount.js';
import { type DescriptorAdapters, readProvider } from './sections/provider.js';
import { descriptorStruct, LISTED_SECTIONS, type WireDescriptor } from './sections.js';

/** The longest text that is parsed and validated in one turn of the event loop. */
const MAX_SHORT_TEXT = 16_384;

interface DescriptorInput extends HostFacts {
  /** The name of the file; its extension decides between JSON and YAML. */
  readonly file: string;
  readonly text: string;
  readonly adapters: DescriptorAdapters;
  /** Default: those of any file. */
  readonly limits?: TextLimits;
}

export interface ParsedDescriptor {
  readonly descriptor: Descriptor;
  readonly warnings: readonly Diagnostic[];
  readonly locate: Locate;
}

/** The accepted parts of a descriptor with errors: the files that they name are checked as well. */
interface AcceptedParts {
  readonly locate: Locate;
  readonly adapter: DescriptorAdapter | null;
  readonly signer: (NamedSigner & { readonly factory: DescriptorSigner }) | null;
  /** The config as written; parts of it may be invalid. */
  readonly config: unknown;
  readonly manifest: Pick<Descriptor, 'module' | 'manifest' | 'manifest_digest'> | null;
  /** Empty if a mount is invalid, and for a disabled descriptor. */
  readonly mounts: readonly Mount[];
}

/** The descriptor itself has errors, not only a file that it names. */
export class InvalidDescriptor extends InvalidFile {
  readonly accepted: AcceptedParts;

  constructor(diagnostics: readonly Diagnostic[], accepted: AcceptedParts) {
    super(diagnostics);
    this.accepted = accepted;
  }
}

/** @throws InvalidDescriptor with all errors of the descriptor. */
export async function parseDescriptor(input: DescriptorInput): Promise<ParsedDescriptor> {
  const { value, locate } = readStructuredText(input.file, input.text, undefined, input.limits);
  const source = { file: input.file, locate };
  // Each of the two may take long.
  if (input.text.length > MAX_SHORT_TEXT) await nextTurn();
  const shape = validateStruct(value, descriptorStruct);
  const accepted = (shape.accepted ?? {}) as Partial<WireDescriptor>;
  const { adapter, config, description, ...provider } = await readProvider(value, input.adapters);
  const context = { ...input, written: value, adapter, config, live: description };
  const further = checkFurtherProviders(context);
  const violations = [
    ...shape.violations.map((violation) => hintAtConfig(violation, adapter)),
    ...provider.violations,
    ...(await validateSections(accepted, context)),
    ...further.flatMap(({ violations }) => violations),
  ];
  if (violations.length === 0) {
    violations.push(...checkByAdapter(shape.value as WireDescriptor, { adapter, config }));
  }
  if (violations.length > 0) {
    const { diagnostics } = createInvalidFile(violations, source);
    throw new InvalidDescriptor(diagnostics, {
      locate,
      adapter,
      signer: provider.signer,
      config: provider.written,
      manifest: readAcceptedManifest(accepted, value),
      mounts: readAcceptedMounts(accepted, violations),
    });
  }
  const wire = shape.value as WireDescriptor;
  const warnings = LISTED_SECTIONS.flatMap(([name, section]) =>
    wire[name] === undefined ? [] : (section.warn?.(wire[name], value) ?? []),
  ).map((warning) => createDiagnostic(warning, source, 'warning'));
  const descriptor = createDescriptor(wire, config, {
    configDescription: description,
    furtherProviders: further.flatMap(({ provider }) => provider ?? []),
  });
  return { descriptor, warnings, locate };
}

/** What the adapter cannot carry; only a valid descriptor is its business. */
function checkByAdapter(
  { forward_headers, responses }: WireDescriptor,
  { adapter, config }: Pick<SectionContext, 'adapter' | 'config'>,
): readonly Violation[] {
  const { mode } = responses;
  const descriptor = { config, forward_headers, responses: { mode } };
  return readModuleProblems(() => adapter?.checkDescriptor?.(descriptor), ['provider', 'kind']);
}

/** Skips the rules of sections that the struct has rejected. */
async function validateSections(
  accepted: Partial<WireDescriptor>,
  context: SectionContext,
): Promise<readonly Violation[]> {
  const found = await Promise.all(
    LISTED_SECTIONS.map(([name, section]) =>
      accepted[name] === undefined
        ? []
        : (section.validate?.(accepted[name] as never, context) ?? []),
    ),
  );
  return found.flat();
}

function readAcceptedMounts(
  { enabled = true, mount = [] }: Partial<WireDescriptor>,
  violations: readonly Violation[],
): readonly Mount[] {
  const isValid = violations.every(({ path }) => path[0] !== 'mount');
  return enabled && isValid ? mount : [];
}

/** Returns only an explicit manifest: the default would be an error for some adapters. */
function readAcceptedManifest(
  { module, manifest, manifest_digest }: Partial<WireDescriptor>,
  written: unknown,
): AcceptedParts['manifest'] {
  if (manifest === undefined || readMember(written, 'manifest') === undefined) return null;
  const hasAcceptedMember = Object.keys(manifest).length > 0;
  if (!hasAcceptedMember) return null;
  return {
    module: module ?? '',
    manifest: createManifestSource(manifest),
    ...(manifest_digest !== undefined && { manifest_digest }),
  };
}

/** Adds a hint for a key of the adapter's config that is outside `config`. */
function hintAtConfig(violation: Violation, adapter: DescriptorAdapter | null): Violation {
  const { rule, path } = violation;
  const parent = path.slice(0, -1).join('.');
  const members = adapter?.config.type === 'object' ? adapter.config.schema : null;
  const isMisplaced = (parent === '' || parent === 'provider') && members !== null;
  if (rule !== 'unknown-key' || !isMisplaced) return violation;
  if (!Object.hasOwn(members as object, String(path.at(-1)))) return violation;
  return { ...violation, hint: "move it into 'provider.config'" };
}
