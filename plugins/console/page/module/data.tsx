import { useEffect, useState } from 'preact/hooks';
import { callBridge, explainDenied } from '../bridge.js';
import { formatJson, isLongNumber } from '../exact-json.js';
import { query, setQuery } from '../location.js';
import type { ActionInputField, AdminEntity, Manifest, ModuleStatus, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { formatTime, toTime } from '../ui/format-time.js';
import { Panel } from '../ui/panel.js';
import { Card, Empty, formatCount, Loading, ProblemBox } from '../ui/parts.js';
import { type Column, Table } from '../ui/table.js';
import { Contributions } from './contributions.js';
import type { TabProps } from './tab-props.js';

const PAGE_SIZE = 50;

type Row = Readonly<Record<string, unknown>>;

export function DataTab({ module, manifest }: TabProps) {
  const entities = manifest.admin?.entities ?? [];
  const chosen = entities.find(({ name }) => name === query.value.get('entity')) ?? entities[0];
  if (!chosen)
    return <Empty title="No data">The manifest of this module declares no entities.</Empty>;
  return (
    <>
      {entities.length > 1 && (
        <label class="inline">
          Entity{' '}
          <select
            value={chosen.name}
            onChange={(event) => setQuery({ entity: event.currentTarget.value })}
          >
            {entities.map(({ name, label }) => (
              <option key={name} value={name}>
                {label ?? name}
              </option>
            ))}
          </select>
        </label>
      )}
      <EntityTable key={chosen.name} module={module} manifest={manifest} entity={chosen} />
    </>
  );
}

function EntityTable({
  module,
  manifest,
  entity,
}: {
  module: ModuleStatus;
  manifest: Manifest;
  entity: AdminEntity;
}) {
  const denied = explainDenied(module, entity.read_capability);
  const { rows, problem, isBusy, next, more, reload, retry } = useRows(
    denied === null ? module : null,
    entity,
  );
  const [opened, setOpened] = useState<Row | null>(null);
  const fields = entity.fields ?? listFields(rows ?? []);
  const [filter, setFilter] = useState('');
  const fitting = (rows ?? [])
    .map((row, index) => ({ row, index }))
    .filter(({ row }) => matches(row, fields, filter));
  const columns: Column<{ row: Row; index: number }>[] = [
    {
      id: 'open',
      head: 'Row',
      cell: ({ row }) => (
        <button type="button" class="link" onClick={() => setOpened(row)}>
          Show
        </button>
      ),
    },
    ...fields.map((field) => ({
      id: field.name,
      head: field.label ?? field.name,
      isNumber: field.type === 'integer' || field.type === 'number',
      cell: ({ row }: { row: Row }) => <span class="clip">{formatMember(row, field)}</span>,
    })),
  ];
  return (
    <Card
      title={entity.label ?? entity.name}
      tools={
        <FocusableButton isOff={isBusy} disabled={denied !== null} onClick={reload}>
          Read again
        </FocusableButton>
      }
    >
      {entity.description && <p class="fine">{entity.description}</p>}
      {denied && <Empty title="This data cannot be shown">{denied}</Empty>}
      {problem && <ProblemBox problem={problem} onRetry={retry} />}
      {isBusy && !rows && <Loading />}
      {rows?.length === 0 && next === null && (
        <Empty title="No rows yet">The module has no rows now. Read again later.</Empty>
      )}
      {opened && (
        <RowPanel
          title={`${entity.label ?? entity.name} ${nameRow(opened, fields)}`}
          row={opened}
          fields={fields}
          onClose={() => setOpened(null)}
        >
          <Contributions
            module={module}
            manifest={manifest}
            target={`${manifest.module_id}.${entity.name}.row.actions`}
            context={{ row: opened }}
            onDone={reload}
            showsNone
          />
        </RowPanel>
      )}
      {rows && (rows.length > 0 || next !== null) && (
        <>
          <div class="row">
            <label class="inline">
              Filter{' '}
              <input
                class="find"
                type="search"
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
              />
            </label>
            <p class="fine" role="status">
              {describeCount(rows.length, fitting.length, next !== null)}
            </p>
          </div>
          <Table
            caption={entity.label ?? entity.name}
            columns={columns}
            rows={fitting}
            keyOf={({ index }) => String(index)}
          />
        </>
      )}
      {next !== null && (
        <FocusableButton isOff={isBusy} onClick={more}>
          Show more
        </FocusableButton>
      )}
    </Card>
  );
}

interface RowPanelProps {
  readonly title: string;
  readonly row: Row;
  readonly fields: readonly ActionInputField[];
  readonly onClose: () => void;
  readonly children: preact.ComponentChildren;
}

/** Shows every value in full, then the contributions of modules. */
function RowPanel({ title, row, fields, onClose, children }: RowPanelProps) {
  return (
    <Panel title={title} onClose={onClose}>
      <dl class="pairs">
        {Object.entries(row).map(([name, value]) => {
          const field = fields.find((declared) => declared.name === name);
          return (
            <div key={name}>
              <dt>{field?.label ?? name}</dt>
              <dd>{formatValue(value, field)}</dd>
            </div>
          );
        })}
      </dl>
      {children}
    </Panel>
  );
}

interface Page {
  readonly data: readonly unknown[];
  readonly nextCursor: string | null;
}

function useRows(module: ModuleStatus | null, entity: AdminEntity) {
  const [rows, setRows] = useState<readonly Row[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const read = async (cursor: string | null, signal?: AbortSignal) => {
    if (module === null) return;
    setBusy(true);
    setAsked(cursor);
    const payload = {
      operation: 'admin_data_list',
      entity: entity.name,
      limit: PAGE_SIZE,
      ...(cursor !== null && { cursor }),
    };
    const answer = await callBridge<Page>(module, entity.read_capability, payload, signal);
    setBusy(false);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setNext(answer.data.nextCursor);
    const page = answer.data.data.map(toRow);
    setRows((before) => [...(cursor === null ? [] : (before ?? [])), ...page]);
  };
  useEffect(() => {
    const abort = new AbortController();
    read(null, abort.signal).catch(() => {});
    return () => abort.abort();
  }, [module?.digest, entity.name]);
  return {
    rows,
    problem,
    isBusy,
    next,
    more: () => void read(next),
    reload: () => void read(null),
    /** Keeps the rows that are read. */
    retry: () => void read(asked),
  };
}

/** A record of a provider can be any JSON. */
function toRow(record: unknown): Row {
  const isRow = typeof record === 'object' && record !== null && !Array.isArray(record);
  return isRow && !isLongNumber(record) ? (record as Row) : { value: record };
}

/** Lists the fields of the first rows, for an entity that declares none. */
function listFields(rows: readonly Row[]): ActionInputField[] {
  const names = new Set(rows.slice(0, 20).flatMap((row) => Object.keys(row)));
  return [...names].slice(0, 12).map((name) => ({ name, type: 'json' }));
}

/** Also matches values as the table displays them: local dates, yes and no. */
function matches(row: Row, fields: readonly ActionInputField[], filter: string): boolean {
  const sought = filter.trim().toLowerCase();
  if (sought === '') return true;
  const texts = fields.map((field) => formatMember(row, field));
  return [...texts, formatJson(row)].some((text) => text.toLowerCase().includes(sought));
}

function describeCount(read: number, fitting: number, hasMore: boolean): string {
  const rows =
    fitting === read ? formatCount(read, 'row') : `${fitting} of ${formatCount(read, 'row')}`;
  return hasMore ? `${rows} read so far, the module has more` : `${rows}, all are read`;
}

/** Names a row by its first field. */
function nameRow(row: Row, fields: readonly ActionInputField[]): string {
  return fields[0] === undefined ? '' : formatMember(row, fields[0]);
}

/** Not every row has every member, and `constructor` is one that objects inherit. */
function formatMember(row: Row, field: ActionInputField): string {
  return formatValue(Object.hasOwn(row, field.name) ? row[field.name] : undefined, field);
}

/** Always returns text. */
function formatValue(value: unknown, field?: ActionInputField): string {
  if (value === null || value === undefined) return '–';
  if (field?.type === 'timestamp' && (typeof value === 'string' || typeof value === 'number')) {
    const time = toTime(value);
    return time === null ? String(value) : formatTime(time);
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? formatJson(value) : String(value);
}
