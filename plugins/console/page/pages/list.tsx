import type { HostResource } from '../../../../core/contract/listing.js';
import { ShownTable } from '../ui/list-table.js';
import { Empty, PageHead, ReloadButton, ResourceState, useResource } from '../ui/parts.js';

type Lists = Readonly<Record<string, readonly object[]>>;

/** The page of a list that has no other one. */
export function ListPage({ of: { path, page, tables } }: { of: HostResource }) {
  const resource = useResource<Lists>(path);
  const { data } = resource;
  return (
    <>
      <PageHead title={page ?? path}>
        <ReloadButton of={resource} />
      </PageHead>
      <ResourceState of={resource} />
      {data &&
        tables.map((table) => {
          const { [table.rows]: rows = [] } = data;
          return rows.length === 0 ? (
            <Empty key={table.rows} title={`${table.title}: none`} />
          ) : (
            <ShownTable key={table.rows} table={table} rows={rows} keyOf={JSON.stringify} />
          );
        })}
    </>
  );
}
