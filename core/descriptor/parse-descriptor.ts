import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type Locate,
  type Violation,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import { findNearestName } from '../document/suggest.js';
import { type ValidationResult, validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import type { Descriptor, DescriptorAdapter } from './descriptor.js';
import { findWarnings, validateDescriptor } from './descriptor-rules.js';
import { descriptorStruct, type WireDescriptor } from './descriptor-struct.js';
import { createDescriptor } from './from-wire.js';

/** Adapters by kind, imported when a descriptor first needs one. */
export interface DescriptorAdapters {
  kinds(): readonly string[];
  /** @throws an Error whose message may be shown when the adapter cannot be loaded. */
  adapter(kind: string): Promise<DescriptorAdapter>;
}

export interface DescriptorInput {
  /** The name of the file; its extension decides between JSON and YAML. */
  readonly file: string;
  readonly text: string;
  readonly adapters: DescriptorAdapters;
}

export interface ParsedDescriptor {
  readonly descriptor: Descriptor;
  readonly warnings: readonly Diagnostic[];
  readonly locate: Locate;
}

/** @throws InvalidFile with all errors of the descriptor. */
export async function parseDescriptor(input: DescriptorInput): Promise<ParsedDescriptor> {
  const { value, locate } = readStructuredText(input.file, input.text);
  const source = { file: input.file, locate };
  const shape = validateStruct(value, descriptorStruct);
  const found = await findAdapter(value, input.adapters);
  const config = validateProviderConfig(value, found.adapter);
  const violations = [
    ...shape.violations.map((violation) => hintAtConfig(violation, found.adapter)),
    ...found.violations,
    ...config.violations,
    ...validateDescriptor(shape.accepted as Partial<WireDescriptor> | null, value, found.adapter),
  ];
  if (violations.length > 0) throw createInvalidFile(violations, source);
  const wire = shape.value as WireDescriptor;
  const warnings = findWarnings(wire).map((one) => createDiagnostic(one, source, 'warning'));
  return { descriptor: createDescriptor(wire, config.value), warnings, locate };
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
  const config = readMember(readMember(value, 'provider'), 'config') ?? {};
  return validateStruct(config, adapter.config, ['provider', 'config']);
}

/** A key of the adapter's config that is written outside `config`. */
function hintAtConfig(violation: Violation, adapter: DescriptorAdapter | null): Violation {
  const { rule, path } = violation;
  const parent = path.slice(0, -1).join('.');
  const members = adapter?.config.type === 'object' ? adapter.config.schema : null;
  const isMisplaced = (parent === '' || parent === 'provider') && members !== null;
  if (rule !== 'unknown-key' || !isMisplaced) return violation;
  if (!Object.hasOwn(members as object, String(path.at(-1)))) return violation;
  return { ...violation, hint: "move it into 'provider.config'" };
}
