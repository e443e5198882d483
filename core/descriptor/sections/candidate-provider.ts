import { refine } from 'superstruct';
import { describeConfig } from '../../contract/describe-config.js';
import type { AnyStruct } from '../../contract/described.js';
import type { ConfigDescription } from '../../contract/index.js';
import {
  createInvalidFile,
  describePath,
  type Path,
  type Violation,
} from '../../document/diagnostic.js';
import { listReferences, type References, resolveReferences } from '../../document/references.js';
import { validateStruct } from '../../document/validate.js';
import { readMember } from '../../lib/read-member.js';
import { readDescription } from '../read-description.js';
import type { DescriptorAdapter, FurtherProviderRules } from '../section.js';

const SECTION = 'candidate';
const PATH = [SECTION, 'endpoints'] as const;

/** The provider of a candidate differs from the live one in its endpoints alone. */
export const candidateProvider: FurtherProviderRules = {
  check: ({ written, adapter, config, live }) => {
    const reject = (violations: readonly Violation[]) => ({ violations, provider: null });
    const writtenConfig = readMember(readMember(written, 'provider'), 'config');
    const problem = findMissingSupport(adapter, writtenConfig, live);
    if (problem !== null) {
      const message = `'candidate' cannot be used: ${problem}`;
      const violation = { message, hint: 'remove it', path: [SECTION], at: 'key' } as const;
      return reject([{ rule: 'candidate-unsupported', ...violation }]);
    }
    const endpoints = readMember(readMember(written, SECTION), 'endpoints');
    if (typeof endpoints !== 'object' || endpoints === null) return reject([]);
    const changed = replaceEndpoints(writtenConfig, endpoints);
    const { value, violations } = validateStruct(changed, adapter.config, [SECTION]);
    const ofEndpoints = violations.flatMap((violation): Violation[] => {
      const [, member] = violation.path;
      if (member === 'endpoints') return [violation];
      // Ignores a rule of the whole config that the live endpoints satisfy.
      return member === undefined && live !== null ? [{ ...violation, path: PATH }] : [];
    });
    if (violations.length > 0 || live === null) return reject(ofEndpoints);
    const { value: description, violations: ofPlugin } = readDescription(adapter, value, PATH);
    const origins = description?.origins ?? [];
    const file = readMember(endpoints, 'file');
    return {
      violations: [...ofPlugin, ...validateSchemes(origins, live.origins)],
      provider: {
        section: SECTION,
        changes: { endpoints },
        config: replaceEndpoints(config, endpoints),
        description,
        destinations: file === undefined ? [...new Set(origins)] : [`endpoints of ${file}`],
      },
    };
  },

  /** Compares the schemes with those of the live provider, whose endpoints may be in a file, too. */
  read: async ({ changes, description }, { adapter, config, live, references, files }) => {
    const describe = (endpoints: unknown) => {
      const described = describeConfig(adapter, replaceEndpoints(config, endpoints));
      if (described?.origins !== undefined) return described.origins;
      const problem = 'does not describe origins of endpoints';
      throw new Error(`the adapter of kind '${adapter.kind}' ${problem}`);
    };
    const liveOrigins =
      live?.origins ?? describe(readLiveEndpoints(adapter.config, config, references));
    const { endpoints } = changes;
    const file = readMember(endpoints, 'file');
    if (typeof file !== 'string') {
      const origins = description?.origins ?? [];
      const violations = validateSchemes(origins, liveOrigins);
      if (violations.length > 0) throw createInvalidFile(violations, files.source);
      return { document: references.document, warnings: origins.map(warnOfOrigin) };
    }
    const { document } = await resolveReferences({
      ...files,
      struct: adapter.config,
      // The other members are those of the live provider, whose references are already known.
      config: changes,
      env: {},
      source: { ...files.source, prefix: [SECTION] },
      restrictDocument: (struct) => restrictSchemes(struct, liveOrigins, describe),
    });
    const origins = new Set(describe(document(file).content));
    const warning = warnOfCopies([...origins].join(', '), [...PATH, 'file']);
    return { document, warnings: [warning] };
  },
};

function replaceEndpoints(config: unknown, endpoints: unknown): unknown {
  return { ...(config as object), endpoints };
}

/** What the adapter lacks for a candidate; `null` for nothing. */
function findMissingSupport(
  { config: struct, kind, describeConfig }: DescriptorAdapter,
  config: unknown,
  live: ConfigDescription | null,
): string | null {
  const hasEndpoints =
    struct.type === 'object' && Object.hasOwn(struct.schema as object, 'endpoints');
  if (!hasEndpoints) return `a provider of kind ${kind} has no endpoints`;
  const isListed = live !== null && Array.isArray(readMember(config, 'endpoints'));
  if (describeConfig !== undefined && !(isListed && live.origins === undefined)) return null;
  return `the adapter of kind ${kind} does not describe the origins of endpoints`;
}

/** The content of the document that the config of the live provider names for its endpoints. */
function readLiveEndpoints(struct: AnyStruct, config: unknown, { document }: References): unknown {
  const endpoints = readMember(config, 'endpoints');
  const found = listReferences(struct, { endpoints }).find(({ kind }) => kind === 'document');
  return found === undefined ? endpoints : document(found.text).content;
}

/**
 * Rejects plain HTTP where the live provider uses HTTPS, because copies carry the same credentials.
 * @param live `undefined` for a file of endpoints, which is validated later
 */
function validateSchemes(
  origins: readonly string[],
  live: readonly string[] | undefined,
): Violation[] {
  if (live === undefined || !areHttps(live)) return [];
  return origins.flatMap((origin, index): Violation[] => {
    if (isHttps(origin)) return [];
    const message = `'candidate.endpoints[${index}]' must be https: every endpoint of the live provider is`;
    const hint = 'copies carry the credentials of the live provider: use https';
    return [{ rule: 'candidate-scheme', message, hint, path: [...PATH, index], at: 'value' }];
  });
}

/** The struct of a file that lists the endpoints of a candidate. */
function restrictSchemes(
  struct: AnyStruct,
  live: readonly string[],
  describe: (endpoints: unknown) => readonly string[],
): AnyStruct {
  if (!areHttps(live)) return struct;
  return refine(
    struct,
    'a list of https endpoints, because those of the live provider are',
    (endpoints) => areHttps(describe(endpoints)),
  );
}

function areHttps(origins: readonly string[]): boolean {
  return origins.every(isHttps);
}

function isHttps(origin: string): boolean {
  return /^https:/i.test(origin);
}

function warnOfOrigin(origin: string, index: number): Violation {
  return warnOfCopies(origin, [...PATH, index]);
}

function warnOfCopies(origins: string, path: Path): Violation {
  const message = `${describePath(path)}: copies of calls, with the credentials for the provider, go to ${origins}`;
  const hint = 'make sure that it belongs to the provider';
  return { rule: 'candidate-origin', message, hint, path, at: 'value' };
}
