import type { Violation } from '../document/diagnostic.js';
import { validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import type { DescriptorAdapter } from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';

const PATH = ['candidate', 'endpoints'] as const;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The config of the live provider with the endpoints of its candidate. */
export function createCandidateConfig(config: unknown, endpoints: readonly unknown[]): unknown {
  return { ...(config as object), endpoints };
}

/** The candidate is reached as the live provider is, so its endpoints follow the rules of the same adapter. */
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
  if (!Array.isArray(endpoints)) return [];
  const config = readMember(readMember(written, 'provider'), 'config');
  const { violations } = validateStruct(createCandidateConfig(config, endpoints), adapter.config, [
    'candidate',
  ]);
  const ofEndpoints = violations.flatMap((violation): Violation[] => {
    const [, member] = violation.path;
    if (member === 'endpoints') return [violation];
    // A rule of the whole config, which its own endpoints fulfil.
    return member === undefined && isConfigValid ? [{ ...violation, path: PATH }] : [];
  });
  return ofEndpoints.length > 0 ? ofEndpoints : validateSchemes(endpoints, config);
}

function hasEndpoints({ config }: DescriptorAdapter): boolean {
  return config.type === 'object' && Object.hasOwn(config.schema as object, 'endpoints');
}

/** What goes to the live provider encrypted must not go anywhere in clear text. */
function validateSchemes(endpoints: readonly unknown[], config: unknown): Violation[] {
  const live = readMember(config, 'endpoints');
  if (Array.isArray(live) && live.some((entry) => !isHttps(entry))) return [];
  return endpoints.flatMap((entry, index): Violation[] => {
    if (isHttps(entry)) return [];
    const message = `'candidate.endpoints[${index}]' must be https: every endpoint of the live provider is`;
    const hint = 'copies carry the credentials of the live provider: use https';
    return [{ rule: 'candidate-scheme', message, hint, path: [...PATH, index], at: 'value' }];
  });
}

/** A URL, an object with one, or an object that names the scheme of addresses that are resolved. */
function isHttps(entry: unknown): boolean {
  if (typeof entry === 'string') return /^https:/i.test(entry);
  const url = readMember(entry, 'url');
  return typeof url === 'string' ? isHttps(url) : readMember(entry, 'scheme') === 'https';
}

/** Where an endpoint is, for people. */
export function nameCandidateOrigin(entry: unknown): string {
  const url = typeof entry === 'string' ? entry : readMember(entry, 'url');
  if (typeof url === 'string') return URL.canParse(url) ? new URL(url).origin : '';
  const { dns, srv, port, scheme = 'http' } = entry as Readonly<Record<string, unknown>>;
  return `${scheme}://${dns ?? srv}${port === undefined ? '' : `:${port}`}`;
}

/** Valid, but to be known before it is used. */
export function findCandidateWarnings({ candidate }: WireDescriptor): Violation[] {
  if (candidate === undefined) return [];
  const methods = candidate.methods.flatMap((method, index): Violation[] => {
    if (SAFE_METHODS.has(method)) return [];
    const message = `'candidate.methods[${index}]': the candidate carries out each copied ${method} once more`;
    const hint = 'make sure that it writes to data of its own';
    const path = ['candidate', 'methods', index];
    return [{ rule: 'candidate-method', message, hint, path, at: 'value' }];
  });
  const origins = candidate.endpoints.map((entry, index): Violation => {
    const message = `'candidate.endpoints[${index}]': copies of calls, with the credentials for the provider, go to ${nameCandidateOrigin(entry)}`;
    const hint = 'make sure that it belongs to the provider';
    return { rule: 'candidate-origin', message, hint, path: [...PATH, index], at: 'value' };
  });
  return [...methods, ...origins];
}
