import type { Provider } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { withFields } from '../../log/logger.js';
import type { ObservedVersion, ObserverFactory } from '../call-observer.js';
import { ProviderClient } from '../provider-client.js';
import { Candidate, type CandidateRules } from './candidate.js';
import type { CandidateReports } from './candidate-reports.js';
import { MAX_COMPARED_BYTES } from './compare-answers.js';

/**
 * Opens the candidate of a module, which observes its calls.
 * @returns `null` for a module without one
 * @throws the errors of the adapter
 */
export async function openCandidate(
  version: ObservedVersion,
  reports: CandidateReports,
): Promise<ObserverFactory | null> {
  const { descriptor, furtherProviders, scope, streams } = version;
  const { candidate: rules, module } = descriptor;
  const prepared = furtherProviders.find(({ section }) => section === 'candidate');
  if (rules === undefined || prepared === undefined) return null;
  const log = withFields(version.log, { candidate: true });
  const { secrets } = prepared.references;
  const provider = await version.openFurther(prepared);
  const createClient = (opened: Provider) =>
    new ProviderClient({
      provider: withoutHealthChecks(opened),
      streams,
      descriptor: limitCopies(descriptor, rules),
      log,
      scope,
      // Of the limits of the host, only memory applies to copies.
      loadShedder: null,
      identity: descriptor.identity ? version.identity : null,
      secrets,
      owner: version.owner,
    });
  const clients = {
    client: createClient(provider),
    baseline: rules.baseline ? createClient(version.provider) : null,
  };
  const report = reports.open(module);
  let current: Candidate | null = null;
  scope.defer(() => {
    current?.close();
    reports.close(module, report);
  });
  return (manifest) => {
    current?.close();
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
