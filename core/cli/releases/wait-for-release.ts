import { type FleetStatus, fleetStatus } from '../../contract/fleet-status.js';
import type { ReleasesStatus } from '../../contract/release-status.js';
import { shortenDigest } from '../../lib/short-digest.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { RejectedRequest, requestJson } from '../client/host-response.js';
import type { CommandContext } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { listHosts, nameHosts, pollHost } from '../wait/poll-host.js';
import { readReleases } from './release-client.js';

/** The end of the wait for a release. */
export interface ReleaseWait {
  readonly isServed: boolean;
  /** One sentence for people. */
  readonly detail: string;
}

type Answer = readonly [releases: ReleasesStatus, fleet: FleetStatus | null];

type Report = ReleasesStatus['hosts'][number];

const NO_FLEET = 404;
const FORBIDDEN = 403;

/** Hosts report within a second; one with large modules takes longer. */
const REPORT_MS = 5000;

/** Warns of a host that reports soon that it does not serve a release. Lost hosts do not count. */
export async function warnOfRejection(
  client: HostClient,
  release: string,
  context: CommandContext,
): Promise<void> {
  const ends = await pollHost(
    client,
    REPORT_MS,
    readReports,
    (reports) => {
      const isDone = reports.every((report) => {
        return report.release === release || isAbout(release, report);
      });
      return isDone ? reports : null;
    },
    (last) => (last instanceof HostUnreachable ? [] : last),
  );
  const rejecting = ends.find((host) => isAbout(release, host));
  if (rejecting === undefined) return;
  const { host, problem } = rejecting;
  context.printError(`warning: ${toPrintable(`${host} does not serve ${problem}`)}\n`);
}

/** What hosts report; a publisher without the right to read the fleet also waits for lost ones. */
async function readReports(client: HostClient): Promise<readonly Report[]> {
  const fleet = readFleet(client).catch((error) => {
    if (error instanceof RejectedRequest && error.status === FORBIDDEN) return null;
    throw error;
  });
  return listReports(await Promise.all([readReleases(client), fleet]));
}

/** The last reports of hosts that are not lost. */
function listReports([{ hosts }, fleet]: Answer): readonly Report[] {
  const lost = listLost(fleet);
  return hosts.filter(({ host }) => !lost.some(({ id }) => id === host));
}

function listLost(fleet: FleetStatus | null) {
  return fleet?.hosts.filter(({ state }) => state === 'lost') ?? [];
}

/** Whether the problem of a host is one with the release. */
function isAbout(release: string, { problem }: Report): boolean {
  return problem?.includes(release) === true;
}

/** Polls until every ready host serves the release, or until one cannot. */
export function waitForRelease(
  client: HostClient,
  release: string,
  { timeoutMs, ignoresLost }: { readonly timeoutMs: number; readonly ignoresLost: boolean },
): Promise<ReleaseWait> {
  const name = shortenDigest(release);

  /** @returns the hosts that count and do not serve it yet */
  function listMissing([{ hosts: reports }, fleet]: Answer): readonly string[] {
    const serving = new Set(
      reports.flatMap((report) => (report.release === release ? report.host : [])),
    );
    const counted =
      fleet === null
        ? reports.map(({ host }) => ({ id: host, name: host }))
        : fleet.hosts
            .filter(({ state }) => state === 'ready')
            .map((host) => ({ id: host.id, name: listHosts([host]) }));
    if (counted.length === 0) return ['any host'];
    return counted.flatMap((host) => (serving.has(host.id) ? [] : host.name));
  }

  function decide(answer: Answer): ReleaseWait | null {
    const [, fleet] = answer;
    const lost = listLost(fleet);
    if (lost.length > 0 && !ignoresLost) {
      const detail = `${nameHosts(lost)} lost; with --ignore-lost the others alone count`;
      return { isServed: false, detail };
    }
    const rejecting = listReports(answer).find((report) => isAbout(release, report));
    if (rejecting !== undefined) {
      const known = fleet?.hosts.filter(({ id }) => id === rejecting.host) ?? [];
      const name = known.length === 0 ? rejecting.host : listHosts(known);
      return { isServed: false, detail: `${name} does not serve ${rejecting.problem}` };
    }
    if (listMissing(answer).length > 0) return null;
    return { isServed: true, detail: `${name} is served by every ready host` };
  }

  function giveUp(last: Answer | HostUnreachable): ReleaseWait {
    const reason =
      last instanceof HostUnreachable ? last.message : `not by ${listMissing(last).join(', ')}`;
    const detail = `${name} is not served by all hosts after ${timeoutMs} ms: ${reason}`;
    return { isServed: false, detail };
  }

  return pollHost(
    client,
    timeoutMs,
    (bounded) => Promise.all([readReleases(bounded), readFleet(bounded)]),
    decide,
    giveUp,
  );
}

/** `null` for a host without a fleet. */
export async function readFleet(client: HostClient): Promise<FleetStatus | null> {
  try {
    return await requestJson(client, '/fleet', fleetStatus);
  } catch (error) {
    if (error instanceof RejectedRequest && error.status === NO_FLEET) return null;
    throw error;
  }
}
