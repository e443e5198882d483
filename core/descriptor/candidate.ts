import { refine } from 'superstruct';
import type { AnyStruct } from '../contract/described.js';
import type { Violation } from '../document/diagnostic.js';
import { validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import type { Descriptor, DescriptorAdapter } from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';

type CandidateEndpoints = NonNullable<Descriptor['candidate']>['endpoints'];

const PATH = ['candidate', 'endpoints'] as const;
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The config of the live provider with the endpoints of its candidate. */
export function createCandidateConfig(config: unknown, endpoints: unknown): unknown {
  return { ...(config as object), endpoints };
}

/**
 * Validates the endpoints of a candidate by the rules of the same adapter, because the host reaches
 * it like the live provider.
 */
export function validateCandidate(
  written: unknown,
  adapter: DescriptorAdapter | null,
  isConfigValid: boolean,
): Violation[] {
  const endpoints = readMember(readMember(written, 'candidate'), 'endpoints');
  if (readMember(written, 'candidate') === undefined || adapter === null) return [];
  if (!hasEndpoints(adapter)) {
    const message = `'candidate' cannot be used: a provider of kind ${adapter.kind} has no endpoints`;
    const hint = 'remove it';
    return [{ rule: 'candidate-unsupported', message, hint, path: ['candidate'], at: 'key' }];
  }
  if (typeof endpoints !== 'object' || endpoints === null) return [];
  const config = readMember(readMember(written, 'provider'), 'config');
  const { violations } = validateStruct(createCandidateConfig(config, endpoints), adapter.config, [
    'candidate',
  ]);
  const ofEndpoints = violations.flatMap((violation): Violation[] => {
    const [, member] = violation.path;
    if (member === 'endpoints') return [violation];
    // Ignores a rule of the whole config that the live endpoints satisfy.
    return member === undefined && isConfigValid ? [{ ...violation, path: PATH }] : [];
  });
  return ofEndpoints.length > 0 ? ofEndpoints : validateSchemes(endpoints, config);
}

function hasEndpoints({ config }: DescriptorAdapter): boolean {
  return config.type === 'object' && Object.hasOwn(config.schema as object, 'endpoints');
}

/**
 * Rejects plain HTTP where the live provider uses HTTPS, because copies carry the same credentials.
 */
function validateSchemes(endpoints: object, config: unknown): Violation[] {
  const live = readMember(config, 'endpoints');
  // Files are validated later.
  if (!Array.isArray(endpoints) || !Array.isArray(live) || !areHttps(live)) return [];
  return endpoints.flatMap((entry, index): Violation[] => {
    if (isHttps(entry)) return [];
    const message = `'candidate.endpoints[${index}]' must be https: every endpoint of the live provider is`;
    const hint = 'copies carry the credentials of the live provider: use https';
    return [{ rule: 'candidate-scheme', message, hint, path: [...PATH, index], at: 'value' }];
  });
}

/** The struct of a file that lists the endpoints of a candidate. @param live endpoints at load */
export function restrictCandidateFile(struct: AnyStruct, live: readonly unknown[]): AnyStruct {
  if (!areHttps(live)) return struct;
  return refine(
    struct,
    'a list of https endpoints, because those of the live provider are',
    areHttps,
  );
}

function areHttps(entries: readonly unknown[]): boolean {
  return entries.every(isHttps);
}

/** Matches a URL, an object with one, or an object that names the scheme of resolved addresses. */
function isHttps(entry: unknown): boolean {
  if (typeof entry === 'string') return /^https:/i.test(entry);
  const url = readMember(entry, 'url');
  return typeof url === 'string' ? isHttps(url) : readMember(entry, 'scheme') === 'https';
}

/**
 * The destinations of copies as the descriptor names them: origins, and the file that lists them.
 */
export function listCandidateOrigins(endpoints: CandidateEndpoints): readonly string[] {
  if ('file' in endpoints) return [`endpoints of ${endpoints.file}`];
  return [...new Set(endpoints.map(nameOrigin))];
}

function nameOrigin(entry: unknown): string {
  const url = typeof entry === 'string' ? entry : readMember(entry, 'url');
  if (typeof url === 'string') return URL.canParse(url) ? new URL(url).origin : '';
  const { dns, srv, port, scheme = 'http' } = entry as Readonly<Record<string, unknown>>;
  return `${scheme}://${dns ?? srv}${port === undefined ? '' : `:${port}`}`;
}

/** Warns of methods with effects, because the candidate executes each copy. */
export function findMethodWarnings({ candidate }: WireDescriptor): Violation[] {
  if (candidate === undefined) return [];
  return candidate.methods.flatMap((method, index): Violation[] => {
    if (SAFE_METHODS.has(method)) return [];
    const message = `'candidate.methods[${index}]': the candidate carries out each copied ${method} once more`;
    const hint = 'make sure that it writes to data of its own';
    const path = ['candidate', 'methods', index];
    return [{ rule: 'candidate-method', message, hint, path, at: 'value' }];
  });
}

/** @param listed the content of the file of endpoints; `null` without one */
export function findOriginWarnings(
  { candidate }: Descriptor,
  listed: readonly unknown[] | null,
): Violation[] {
  if (candidate === undefined) return [];
  const { endpoints } = candidate;
  const warn = (
    subject: string,
    entries: readonly unknown[],
    path: readonly (string | number)[],
  ) => {
    const origins = [...new Set(entries.map(nameOrigin))].join(', ');
    const message = `'${subject}': copies of calls, with the credentials for the provider, go to ${origins}`;
    const hint = 'make sure that it belongs to the provider';
    return { rule: 'candidate-origin', message, hint, path, at: 'value' } as const;
  };
  if ('file' in endpoints)
    return [warn('candidate.endpoints.file', listed ?? [], [...PATH, 'file'])];
  return endpoints.map((entry, index) =>
    warn(`candidate.endpoints[${index}]`, [entry], [...PATH, index]),
  );
}
