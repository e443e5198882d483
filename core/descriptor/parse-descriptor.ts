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

/** Adapters by kind, imported when a descriptor first asks for one. */
export interface DescriptorAdapters {
  kinds(): readonly string[];
  /** @throws an Error whose message may be shown when the adapter cannot be loaded. */
  adapter(kind: string): Promise<DescriptorAdapter>;
}

export interface DescriptorInput {
  /** The name of the file; its ending tells JSON from YAML. */
  readonly file: string;
  readonly text: string;
  readonly adapters: DescriptorAdapters;
}

export interface ParsedDescriptor {
  readonly descriptor: Descriptor;
  readonly warnings: readonly Diagnostic[];
  readonly locate: Locate;
}

/** @throws InvalidFile with all that is wrong with it. */
export async function parseDescriptor(input: DescriptorInput): Promise<ParsedDescriptor> {
  const { value, locate } = readStructuredText(input.file, input.text);
  const source = { file: input.file, locate };
  const judged = validateStruct(value, descriptorStruct);
  const found = await findAdapter(value, input.adapters);
  const config = validateProviderConfig(value, found.adapter);
  const wire = judged.faults.length === 0 ? (judged.value as WireDescriptor) : null;
  const rules = wire === null ? [] : validateDescriptor(wire, found.adapter);
  const faults = [...judged.faults, ...found.faults, ...config.faults, ...rules];
  if (wire === null || faults.length > 0) throw createInvalidFile(faults, source);
  const warnings = findWarnings(wire).map((fault) => createDiagnostic(fault, source, 'warning'));
  return { descriptor: createDescriptor(wire, config.value), warnings, locate };
}

export async function findAdapter(
  value: unknown,
  adapters: DescriptorAdapters,
): Promise<{ adapter: DescriptorAdapter | null; faults: Violation[] }> {
  const kind = readMember(readMember(value, 'provider'), 'kind');
  if (typeof kind !== 'string' || kind === '') return { adapter: null, faults: [] };
  const kinds = adapters.kinds().toSorted();
  if (!kinds.includes(kind)) return { adapter: null, faults: [explainUnknownKind(kind, kinds)] };
  try {
    return { adapter: await adapters.adapter(kind), faults: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the adapter cannot be loaded';
    return { adapter: null, faults: [createKindDiagnostic('plugin-failed', message, null)] };
  }
}

export function explainUnknownKind(kind: string, kinds: readonly string[]): Violation {
  const expected = kinds.length === 0 ? 'a kind of a plugin' : `one of ${kinds.join(', ')}`;
  const nearest = findNearestName(kind, kinds);
  const hint = nearest === null ? null : `did you mean '${nearest}'?`;
  return createKindDiagnostic('unknown-kind', `'provider.kind' must be ${expected}`, hint);
}

export function createKindDiagnostic(
  rule: string,
  message: string,
  hint: string | null,
): Violation {
  return { rule, message, hint, path: ['provider', 'kind'], at: 'value' };
}

/** Judged whatever else is wrong, so that one look at the findings is enough. */
export function validateProviderConfig(
  value: unknown,
  adapter: DescriptorAdapter | null,
): ValidationResult {
  if (adapter === null) return { value: null, faults: [] };
  const config = readMember(readMember(value, 'provider'), 'config') ?? {};
  return validateStruct(config, adapter.config, ['provider', 'config']);
}
