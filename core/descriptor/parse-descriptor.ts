import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  InvalidFile,
  type Locate,
  type Violation,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import { findNearestName } from '../document/suggest.js';
import { type ValidationResult, validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import { validateCandidate } from './candidate.js';
import {
  createDescriptor,
  createManifestSource,
  type Descriptor,
  type DescriptorAdapter,
} from './descriptor.js';
import { findWarnings, validateDescriptor } from './descriptor-rules.js';
import { descriptorStruct, type WireDescriptor } from './descriptor-struct.js';
import { type Mount, type ReservedPrefixes, validateMounts } from './mounts.js';
import { type DescriptorSigner, readSigner, SIGNER_CONFIG_PATH, SIGNER_PATH } from './signer.js';

/** Adapters by kind, imported when a descriptor first needs one. */
export interface DescriptorAdapters {
  kinds(): readonly string[];
  /** @throws an Error whose message may be shown when the adapter cannot be loaded. */
  adapter(kind: string): Promise<DescriptorAdapter>;
  signers(): readonly string[];
  /** @throws an Error whose message may be shown when the signer cannot be loaded. */
  signer(name: string): Promise<DescriptorSigner>;
}

interface DescriptorInput {
  /** The name of the file; its extension decides between JSON and YAML. */
  readonly file: string;
  readonly text: string;
  readonly adapters: DescriptorAdapters;
  /** The headers that hold credentials of callers, in lower case. Default: the built-in ones. */
  readonly credentialHeaders?: readonly string[];
  /** Prefixes that no mount may begin with. Default: none. */
  readonly reservedPrefixes?: ReservedPrefixes;
  /** Whether the host supports rates over all hosts. Default: not checked. */
  readonly canShareRates?: boolean;
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
  readonly signer: DescriptorSigner | null;
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
  const { value, locate } = readStructuredText(input.file, input.text);
  const source = { file: input.file, locate };
  const shape = validateStruct(value, descriptorStruct);
  const adapterResult = await findAdapter(value, input.adapters);
  const config = validateProviderConfig(value, adapterResult.adapter);
  const signing = await findSigner(value, adapterResult.adapter, input.adapters);
  const mounts = await findMountViolations(shape.accepted, input.reservedPrefixes);
  const violations = [
    ...shape.violations.map((violation) => hintAtConfig(violation, adapterResult.adapter)),
    ...adapterResult.violations,
    ...config.violations,
    ...signing.violations,
    ...validateDescriptor(
      shape.accepted as Partial<WireDescriptor> | null,
      value,
      adapterResult.adapter,
      input.credentialHeaders,
    ),
    ...mounts,
    ...(input.canShareRates === false ? findSharedRates(shape.accepted) : []),
    ...validateCandidate(value, adapterResult.adapter, config.violations.length === 0),
  ];
  if (violations.length > 0) {
    const { diagnostics } = createInvalidFile(violations, source);
    const accepted = (shape.accepted ?? {}) as Partial<WireDescriptor>;
    throw new InvalidDescriptor(diagnostics, {
      locate,
      adapter: adapterResult.adapter,
      signer: signing.signer,
      config: readConfig(value),
      manifest: readAcceptedManifest(accepted, value),
      mounts: readAcceptedMounts(accepted, violations),
    });
  }
  const wire = shape.value as WireDescriptor;
  const warnings = findWarnings(wire, value).map((warning) =>
    createDiagnostic(warning, source, 'warning'),
  );
  return { descriptor: createDescriptor(wire, config.value), warnings, locate };
}

function findSharedRates(accepted: unknown): Violation[] {
  const { rate } = (accepted ?? {}) as Partial<WireDescriptor>;
  if (rate?.shared !== true) return [];
  const message = 'rate.shared is true, but the host has no Redis';
  const hint = 'start the host with --redis redis://…, or remove rate.shared';
  return [{ rule: 'no-redis', message, hint, path: ['rate', 'shared'], at: 'value' }];
}

/** Loads the prefixes only for a descriptor with mounts. */
async function findMountViolations(
  accepted: unknown,
  reserved: ReservedPrefixes | undefined,
): Promise<Violation[]> {
  const { mount = [] } = (accepted ?? {}) as Partial<WireDescriptor>;
  if (mount.length === 0) return [];
  return validateMounts(mount, (await reserved?.load()) ?? new Set());
}

function readAcceptedMounts(
  { enabled = true, mount = [] }: Partial<WireDescriptor>,
  violations: readonly Violation[],
): readonly Mount[] {
  const isValid = violations.every(({ path }) => path[0] !== 'mount');
  return enabled && isValid ? mount : [];
}

async function findAdapter(
  value: unknown,
  adapters: DescriptorAdapters,
): Promise<{ adapter: DescriptorAdapter | null; violations: Violation[] }> {
  const kind = readMember(readMember(value, 'provider'), 'kind');
  if (typeof kind !== 'string' || kind === '') return { adapter: null, violations: [] };
  const kinds = adapters.kinds().toSorted();
  if (!kinds.includes(kind)) {
    return { adapter: null, violations: [explainUnknownKind(kind, kinds)] };
  }
  try {
    return { adapter: await adapters.adapter(kind), violations: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the adapter cannot be loaded';
    return { adapter: null, violations: [createKindViolation('plugin-failed', message, null)] };
  }
}

function explainUnknownKind(kind: string, kinds: readonly string[]): Violation {
  const expected = kinds.length === 0 ? 'a kind of a plugin' : `one of ${kinds.join(', ')}`;
  const nearest = findNearestName(kind, kinds);
  const hint = nearest === null ? null : `did you mean '${nearest}'?`;
  return createKindViolation('unknown-kind', `'provider.kind' must be ${expected}`, hint);
}

function createKindViolation(rule: string, message: string, hint: string | null): Violation {
  return { rule, message, hint, path: ['provider', 'kind'], at: 'value' };
}

/** Runs even after other errors, so that all errors are reported together. */
function validateProviderConfig(
  value: unknown,
  adapter: DescriptorAdapter | null,
): ValidationResult {
  if (adapter === null) return { value: null, violations: [], accepted: null };
  return validateStruct(readConfig(value), adapter.config, ['provider', 'config']);
}

/** The signer that the config names, and the violations of its own config. */
async function findSigner(
  value: unknown,
  adapter: DescriptorAdapter | null,
  adapters: DescriptorAdapters,
): Promise<{ signer: DescriptorSigner | null; violations: readonly Violation[] }> {
  const signerChoice = adapter === null ? null : readSigner(readConfig(value), adapter);
  if (signerChoice === null) return { signer: null, violations: [] };
  const signerNames = adapters.signers().toSorted();
  if (!signerNames.includes(signerChoice.name)) {
    const expected =
      signerNames.length === 0 ? 'a signer of a plugin' : `one of ${signerNames.join(', ')}`;
    const nearest = findNearestName(signerChoice.name, signerNames);
    const hint = nearest === null ? 'install its plugin' : `did you mean '${nearest}'?`;
    const message = `'${SIGNER_PATH.join('.')}' must be ${expected}`;
    return { signer: null, violations: [createSignerViolation('unknown-signer', message, hint)] };
  }
  try {
    const signer = await adapters.signer(signerChoice.name);
    const { violations } = validateStruct(signerChoice.config, signer.config, SIGNER_CONFIG_PATH);
    return { signer, violations };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the signer cannot be loaded';
    return { signer: null, violations: [createSignerViolation('plugin-failed', message, null)] };
  }
}

function createSignerViolation(rule: string, message: string, hint: string | null): Violation {
  return { rule, message, hint, path: SIGNER_PATH, at: 'value' };
}

function readConfig(value: unknown): unknown {
  return readMember(readMember(value, 'provider'), 'config') ?? {};
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
