import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../api.js';
import { callBridge, explainDenied } from '../bridge.js';
import type { ConfigField } from '../manifest.js';
import type { ModuleStatus, Problem } from '../types.js';
import { Card, Empty, Loading, ProblemBox, State } from '../ui/parts.js';
import { ConfigControl, type ConfigType, describeType, toText, toValue } from './config-control.js';
import type { TabProps } from './tab-props.js';

interface ConfigValue {
  readonly service: string;
  readonly key: string;
  readonly desired_value: unknown;
  readonly editable: boolean;
  readonly pending_restart: boolean;
  readonly redacted: boolean;
  readonly value_type: ConfigType;
}

interface ConfigValues {
  readonly data: readonly ConfigValue[];
}

export function ConfigTab({ module, manifest }: TabProps) {
  const fields = manifest.config?.fields ?? [];
  const permission = manifest.capabilities.find((one) => explainDenied(module, one) === null);
  const [values, setValues] = useState<readonly ConfigValue[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = async (by: string): Promise<Answer<ConfigValues>> => {
    const payload = { operation: 'config_values' };
    const answer = await callBridge<ConfigValues>(module, by, payload);
    setProblem(answer.ok ? null : answer.problem);
    if (answer.ok) setValues(answer.data.data);
    return answer;
  };
  useEffect(() => {
    if (permission !== undefined) void read(permission);
  }, [module.digest, permission]);
  if (fields.length === 0)
    return <Empty title="No configuration">The manifest of this module declares no fields.</Empty>;
  if (permission === undefined) {
    return (
      <Empty title="The configuration cannot be shown">
        {manifest.capabilities.map((one) => explainDenied(module, one)).join('; ')}
      </Empty>
    );
  }
  return (
    <>
      {problem && <ProblemBox problem={problem} onRetry={() => void read(permission)} />}
      {values === null && !problem && <Loading />}
      <div class="grid">
        {values?.map((value) => (
          <ConfigCard
            key={`${value.service} ${value.key}`}
            module={module}
            permission={permission}
            value={value}
            field={fields.find(
              ({ service, key }) => service === value.service && key === value.key,
            )}
            onRead={() => read(permission)}
          />
        ))}
      </div>
    </>
  );
}

function ConfigCard({
  module,
  permission,
  value,
  field,
  onRead,
}: {
  module: ModuleStatus;
  permission: string;
  value: ConfigValue;
  field: ConfigField | undefined;
  /** Reads all values again. */
  onRead: () => Promise<Answer<ConfigValues>>;
}) {
  const { service, key, value_type: type, redacted, editable, pending_restart: isPending } = value;
  const before = toText(value.desired_value, type);
  const [text, setText] = useState<string | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const now = text ?? before;
  const isChanged = text !== null && (redacted || text !== before);
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
    const found = latest.data.data.find((one) => one.service === service && one.key === key);
    // Only what was shown may be overwritten.
    const hasChanged = found !== undefined && toText(found.desired_value, type) !== before;
    setOutdated(hasChanged);
    if (hasChanged) return;
    const answer = await callBridge(module, permission, {
      operation: 'config_write',
      service,
      key,
      value: next,
    });
    if (answer.ok) await onRead();
    setConfirming(false);
    setProblem(answer.ok ? null : answer.problem);
    if (answer.ok) setText(null);
  };
  const id = `config-${service}-${key}`;
  const tools = (
    <span class="row">
      {redacted && <State value="sensitive" />}
      {!editable && <State value="read only" />}
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
            if (isConfirming) void write();
            else {
              setOutdated(false);
              setConfirming(true);
            }
          }}
        >
          <div class="field">
            <label for={id}>{redacted ? 'New value' : 'Value'}</label>
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
                <dd>{redacted ? 'not shown' : <code>{before === '' ? 'empty' : before}</code>}</dd>
              </div>
              <div>
                <dt>Then</dt>
                <dd>{redacted ? 'the new value' : <code>{now === '' ? 'empty' : now}</code>}</dd>
              </div>
            </dl>
          )}
          <div class="row">
            <button type="submit" class={isChanged ? 'primary' : ''} disabled={!isChanged}>
              {isConfirming ? 'Write' : 'Review the change'}
            </button>
            {isChanged && (
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  setText(null);
                  setConfirming(false);
                  setProblem(null);
                }}
              >
                Discard
              </button>
            )}
          </div>
        </form>
      )}
      {problem && <ProblemBox problem={problem} />}
    </Card>
  );
}
