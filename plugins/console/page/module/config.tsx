import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../api.js';
import { callBridge, explainDenied } from '../bridge.js';
import type { ConfigField, ConfigType, Manifest, ModuleStatus, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { formatClock } from '../ui/format-time.js';
import { Card, Empty, Loading, ProblemBox, State } from '../ui/parts.js';
import { ConfigControl, describeType, toText, toValue } from './config-control.js';
import type { TabProps } from './tab-props.js';

interface ConfigValue {
  readonly service: string;
  readonly key: string;
  readonly desired_value: unknown;
  readonly editable: boolean;
  readonly pending_restart: boolean;
  readonly redacted: boolean;
  readonly value_type: ConfigType;
  readonly revision: number;
}

interface ConfigValues {
  readonly data: readonly ConfigValue[];
}

export function ConfigTab({ module, manifest }: TabProps) {
  const fields = manifest.config?.fields ?? [];
  const { reader, deniedReading, deniedWriting } = readRights(module, manifest);
  const [values, setValues] = useState<readonly ConfigValue[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = async (permission: string): Promise<Answer<ConfigValues>> => {
    const payload = { operation: 'config_values' };
    const answer = await callBridge<ConfigValues>(module, permission, payload);
    setProblem(answer.ok ? null : answer.problem);
    if (answer.ok) setValues(answer.data.data);
    return answer;
  };
  useEffect(() => {
    if (reader !== null) void read(reader);
  }, [module.digest, reader]);
  if (fields.length === 0)
    return <Empty title="No configuration">The manifest of this module declares no fields.</Empty>;
  if (reader === null)
    return <Empty title="The configuration cannot be shown">{deniedReading}</Empty>;
  return (
    <>
      {problem && <ProblemBox problem={problem} onRetry={() => void read(reader)} />}
      {values === null && !problem && <Loading />}
      {values !== null && deniedWriting && (
        <p class="fine">Values cannot be written: {deniedWriting}.</p>
      )}
      <div class="grid">
        {values?.map((value) => (
          <ConfigCard
            key={`${value.service} ${value.key}`}
            isWritable={deniedWriting === null}
            value={value}
            field={fields.find(
              ({ service, key }) => service === value.service && key === value.key,
            )}
            onRead={() => read(reader)}
            onWrite={(next) => {
              const { service, key, revision } = value;
              const payload = { operation: 'config_write', service, key, value: next, revision };
              return callBridge(module, manifest.config?.write_capability ?? '', payload);
            }}
          />
        ))}
      </div>
    </>
  );
}

/**
 * Returns the permission that reads, and the reasons why the actor may not read or write; `null` if
 * it may.
 */
function readRights(module: ModuleStatus, { config }: Manifest) {
  const { read_capability: reading, write_capability: writing } = config ?? {};
  const explain = (permission: string | undefined, use: string) =>
    permission === undefined
      ? `the manifest declares no permission that ${use} it`
      : explainDenied(module, permission);
  const deniedWriting = explain(writing, 'writes');
  const reader = [reading, writing].find(
    (capability) => capability !== undefined && explainDenied(module, capability) === null,
  );
  const deniedReading = explain(reading ?? writing, 'reads');
  return { reader: reader ?? null, deniedReading, deniedWriting };
}

interface ConfigCardProps {
  readonly isWritable: boolean;
  readonly value: ConfigValue;
  readonly field: ConfigField | undefined;
  /** Reads all values again. */
  readonly onRead: () => Promise<Answer<ConfigValues>>;
  readonly onWrite: (value: unknown) => Promise<Answer<unknown>>;
}

function ConfigCard({ isWritable, value, field, onRead, onWrite }: ConfigCardProps) {
  const { service, key, value_type: type, redacted, pending_restart: isPending } = value;
  const editable = value.editable && isWritable;
  const before = toText(value.desired_value, type);
  const hasValue = value.desired_value !== null && value.desired_value !== undefined;
  const [text, setText] = useState<string | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  /** The time at which this page has written the value. */
  const [written, setWritten] = useState<string | null>(null);
  const now = text ?? before;
  const isChanged = text !== null && (redacted || !hasValue || text !== before);
  const byDefault = field?.default === undefined ? null : toText(field.default, type);
  const write = async () => {
    let next: unknown;
    try {
      next = toValue(now, type);
    } catch (error) {
      setProblem({
        status: 0,
        code: 'validation_failed',
        title: 'Check the value',
        detail: (error as Error).message,
        request_id: null,
      });
      setConfirming(false);
      return;
    }
    const latest = await onRead();
    if (!latest.ok) return setProblem(latest.problem);
    const latestEntry = latest.data.data.find(
      (entry) => entry.service === service && entry.key === key,
    );
    // Only a displayed value may be overwritten.
    const hasChanged = latestEntry !== undefined && latestEntry.revision !== value.revision;
    setOutdated(hasChanged);
    if (hasChanged) return;
    const answer = await onWrite(next);
    if (answer.ok) await onRead();
    setConfirming(false);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setText(null);
    setWritten(new Date().toISOString());
  };
  const id = `config-${service}-${key}`;
  const name = `${service} ${key}`;
  const tools = (
    <span class="row">
      {redacted && <State value="sensitive" />}
      {!value.editable && <State value="read only" />}
      {isPending && <State value="pending restart" />}
    </span>
  );
  return (
    <Card title={`${service} · ${key}`} tools={tools}>
      {field?.description && <p>{field.description}</p>}
      {!editable ? (
        <p class="fine">{redacted ? 'The value is not shown.' : <code>{before}</code>}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isConfirming) {
              setBusy(true);
              void write().finally(() => setBusy(false));
            } else {
              setOutdated(false);
              setConfirming(true);
            }
          }}
        >
          <div class="field">
            <label for={id}>
              {redacted ? 'New value' : 'Value'}
              <span class="hidden"> of {name}</span>
            </label>
            <p class="help" id={`${id}-help`}>
              {describeType(type)}
              {field?.restart_only && ' · takes effect when the module is opened again'}
            </p>
          </div>
          <ConfigControl id={id} type={type} isSecret={redacted} text={now} onText={setText} />
          {isConfirming && isOutdated && (
            <p class="problem" role="alert">
              The value has changed meanwhile, and nothing was written. Check the difference again.
            </p>
          )}
          {isConfirming && (
            <dl class="pairs note">
              <div>
                <dt>Now</dt>
                <dd>
                  {redacted ? 'not shown' : <code>{hasValue ? before || 'empty' : 'none'}</code>}
                </dd>
              </div>
              <div>
                <dt>Then</dt>
                <dd>{redacted && now !== '' ? 'the new value' : <code>{now || 'empty'}</code>}</dd>
              </div>
            </dl>
          )}
          <div class="row">
            <FocusableButton
              type="submit"
              class={isChanged ? 'primary' : ''}
              isOff={!isChanged || isBusy}
            >
              {isConfirming ? 'Write' : 'Review the change'}
              <span class="hidden">{isConfirming ? ` ${name}` : ` of ${name}`}</span>
            </FocusableButton>
            {byDefault !== null && byDefault !== now && (
              <button type="button" class="quiet" onClick={() => setText(byDefault)}>
                Use the default
                <span class="hidden"> of {name}</span>
              </button>
            )}
            {type.kind === 'string' && text === null && (redacted || !hasValue) && (
              <button type="button" class="quiet" onClick={() => setText('')}>
                Set to empty
                <span class="hidden"> the value of {name}</span>
              </button>
            )}
            {isChanged && (
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  setText(null);
                  setConfirming(false);
                  setProblem(null);
                  // This button goes.
                  document.getElementById(id)?.focus();
                }}
              >
                Discard
                <span class="hidden"> the change of {name}</span>
              </button>
            )}
          </div>
        </form>
      )}
      <p class="done" role="status">
        {written !== null && !isChanged && (
          <>
            Written at <time dateTime={written}>{formatClock(written)}</time>:{' '}
            {redacted ? 'the new value, which is not shown' : <code>{before || 'empty'}</code>}
          </>
        )}
      </p>
      {problem && <ProblemBox problem={problem} />}
    </Card>
  );
}
