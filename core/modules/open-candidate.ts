import type { Log, Manifest, Provider } from '../contract/index.js';
import { createCandidateConfig } from '../descriptor/candidate.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { References } from '../document/references.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import { withFields } from '../log/logger.js';
import { Candidate, type CandidateRules } from '../provider/candidate/candidate.js';
import type { CandidateReports } from '../provider/candidate/candidate-reports.js';
import { MAX_COMPARED_BYTES } from '../provider/candidate/compare-answers.js';
import { ProviderClient } from '../provider/provider-client.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';

interface CandidateContext {
  /** The provider of the live version. */
  readonly provider: Provider;
  readonly candidateReports: CandidateReports;
  readonly identity: IdentitySigner;
  readonly log: Log;
  readonly owner: ErrorOwner | null;
  readonly scope: ModuleScope;
  /** Opens a provider with another config; `folder` is its subfolder in that of the module. */
  readonly open: (
    config: unknown,
    references: References,
    folder: string,
    fields: Readonly<Record<string, unknown>>,
  ) => Promise<Provider>;
}

/** Binds the opened candidate to a manifest, and closes the previous one. */
export type CandidateOpener = (manifest: Manifest) => Candidate;

const LOG_FIELDS = { candidate: true };

/**
 * Opens the candidate of a module like the live provider, with its own endpoints.
 * @returns `null` for a module without one
 * @throws the errors of the adapter
 */
export async function openCandidate(
  { descriptor, adapter, candidateReferences: references }: PreparedDescriptor,
  context: CandidateContext,
): Promise<CandidateOpener | null> {
  const { candidate: rules, module, provider: declared } = descriptor;
  if (rules === undefined) return null;
  const { scope, candidateReports } = context;
  const log = withFields(context.log, LOG_FIELDS);
  const config = createCandidateConfig(declared.config, rules.endpoints);
  const provider = await context.open(config, references, 'candidate', LOG_FIELDS);
  const streams = adapter.supports.streams === true;
  const createClient = (opened: Provider) =>
    new ProviderClient({
      provider: withoutHealthChecks(opened),
      streams,
      descriptor: limitCopies(descriptor, rules),
      log,
      scope,
      // Of the limits of the host, only memory applies to copies.
      loadShedder: null,
      identity: descriptor.identity ? context.identity : null,
      secrets: references.secrets,
      owner: context.owner,
    });
  const clients = {
    client: createClient(provider),
    baseline: rules.baseline ? createClient(context.provider) : null,
  };
  const report = candidateReports.open(module);
  let current: Candidate | null = null;
  scope.defer(() => {
    current?.close();
    candidateReports.close(module, report);
  });
  return (manifest) => {
    current?.close();
    const { secrets } = references;
    current = new Candidate({ rules, ...clients, report, manifest, secrets, log });
    return current;
  };
}

/** Sends each copy once, regardless of the results of earlier ones. */
function limitCopies(descriptor: Descriptor, { concurrency }: CandidateRules): Descriptor {
  const { limits, retry, breaker } = descriptor;
  return {
    ...descriptor,
    limits: { ...limits, concurrency, queue: 0, response_bytes: MAX_COMPARED_BYTES },
    retry: { ...retry, attempts: 0 },
    breaker: { ...breaker, failures: Number.POSITIVE_INFINITY },
  };
}

/** Removes health checks, because responses show whether a candidate is up. */
function withoutHealthChecks(provider: Provider): Provider {
  const balancing = provider.balancing?.();
  if (balancing === undefined) return provider;
  return { ...provider, balancing: () => ({ ...balancing, health: null }) };
}
