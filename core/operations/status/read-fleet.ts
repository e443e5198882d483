import { fleetStatus } from '../../contract/fleet-status.js';
import { HostError } from '../../errors.js';
import { shortenDigest } from '../../lib/short-digest.js';
import { FLEET } from '../fleet/fleet.js';
import { defineListing } from '../listing.js';
import { servedParameter } from '../query.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';

/** Lists the hosts of the fleet, and whether they agree. */
export const FLEET_HOSTS = defineResource({
  text: 'the hosts of the [fleet](../operate/fleet.md). `?serves=` takes the name of a module or a digest; each host then says in `serves` whether it serves it. 404 without `--fleet`',
  query: { serves: servedParameter },
  listing: defineListing({
    struct: fleetStatus,
    rows: 'hosts',
    title: 'Hosts of the fleet',
    columns: {
      id: { title: 'Host' },
      state: { title: 'State', as: 'state' },
      version: { title: 'Version' },
      workers: { title: 'Workers', as: 'number' },
      digest: { title: 'Digest', as: 'digest' },
      address: { title: 'Address' },
      rejected: { title: 'Rejected or pending', as: 'names', only: 'page' },
      heartbeat_at: { title: 'Heartbeat', as: 'time', only: 'page' },
    },
    help: `Any host of the fleet answers. Hosts agree when all that are ready serve the
same modules and none is lost. A lost host has not reported for 6 seconds; it
may still serve.`,
    linesOf: ({ rejected }) => rejected.map((module) => `  does not serve its file of ${module}`),
    linesAfter: ({ fleet, agreed, digest }) => {
      const agreement = agreed
        ? `all serve ${shortenDigest(digest ?? '')}`
        : 'the hosts do not agree';
      return ['', `fleet ${fleet}: ${agreement}`];
    },
  }),
  needs: [FLEET],
  answer: async ({ query: { serves } }, fleet) => {
    const status = await fleet.read(serves ?? undefined).catch(rethrowStoreError);
    if (status !== null) return status;
    throw new HostError('not_found', 'the host belongs to no fleet', {
      nextActions: ['start it with --fleet and a store of PostgreSQL'],
    });
  },
});
