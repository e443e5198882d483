import { array, string, type } from 'superstruct';
import { actorStruct } from '../../contract/members.js';
import { defineListing } from '../../operations/listing.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { removeResource } from '../client/host-response.js';
import { createListingCommand } from '../client/listing-command.js';
import { type CommandGroup, EXIT } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import { addIds, addJsonOption } from '../setting-options.js';

const PATH = '/console/api/sessions';

const listing = defineListing({
  struct: type({
    sessions: array(
      type({
        id: string(),
        actor: actorStruct,
        created_at: string(),
        used_at: string(),
        expires_at: string(),
      }),
    ),
  }),
  rows: 'sessions',
  title: 'Sessions',
  columns: {
    id: { title: 'ID' },
    actor: { title: 'Actor', as: 'actor' },
    created_at: { title: 'Created', as: 'time' },
    used_at: { title: 'Used', as: 'time' },
    expires_at: { title: 'Expires', as: 'time' },
  },
});

export const help = '\nNeeds the scope modgate.sessions.';

export const actions: CommandGroup['actions'] = {
  list: {
    summary: 'List the sessions',
    ...createListingCommand(`GET ${PATH}`, { query: {}, listing }),
  },
  end: {
    summary: 'End sessions; their pages have to sign in again',
    define: (command) => {
      addIds(command, 'IDs of the sessions');
      addHostOptions(command);
      addJsonOption(command, 'the ID of each ended session');
    },
    run: async (command, context) => {
      const client = openHostClient(command, context);
      for (const id of command.args) {
        await removeResource(client, `${PATH}/${id}`);
        await printResult(command, context, { id }, () => `ended ${id}\n`);
      }
      return EXIT.ok;
    },
  },
};
