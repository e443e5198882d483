import { useState } from 'preact/hooks';
import { callBridge } from '../bridge.js';
import { formatJson, parseJson, parseNumber } from '../exact-json.js';
import type { ActionInputField, AdminAction, ModuleStatus, Problem } from '../types.js';
import { ProblemBox } from '../ui/parts.js';
import { PhraseField } from '../ui/phrase-field.js';

interface ActionFormProps {
  readonly module: ModuleStatus;
  readonly action: AdminAction;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly onClose: () => void;
  /** Called after the action has succeeded. */
  readonly onDone?: (() => void) | undefined;
}

/** Input, confirmation and result of an action. */
export function ActionForm({ module, action, input = {}, onClose, onDone }: ActionFormProps) {
  const fields = action.input_schema?.fields ?? null;
  const [texts, setTexts] = useState(() => createTexts(fields, input));
  const [phrase, setPhrase] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [result, setResult] = useState<{ readonly value: unknown } | null>(null);
  const { confirmation, danger_level: danger } = action;
  const required = confirmation?.required_phrase;
  const isConfirmed = required === undefined || phrase === required;

  const invoke = async () => {
    const read = readInput(fields, texts);
    if (!read.ok) {
      setProblem(createInputProblem(read.field, read.reason));
      return;
    }
    setBusy(true);
    setResult(null);
    const payload = {
      operation: 'admin_action_invoke',
      action: action.name,
      ...(read.input !== undefined && { input: read.input }),
    };
    const answer = await callBridge<unknown>(module, action.capability, payload);
    setBusy(false);
    setPhrase('');
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setResult({ value: answer.data });
    onDone?.();
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void invoke();
      }}
    >
      {fields?.map((field) => (
        <InputField
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      {fields === null && (
        <label>
          Input
          <span class="help">JSON; empty for none</span>
          <textarea
            rows={4}
            value={texts[''] ?? ''}
            onInput={(event) => setTexts({ '': event.currentTarget.value })}
          />
        </label>
      )}
      {confirmation && <p class="note">{confirmation.message}</p>}
      {required !== undefined && <PhraseField phrase={required} text={phrase} onText={setPhrase} />}
      <div class="row">
        <button
          type="submit"
          class={danger === 'high' ? 'danger' : 'primary'}
          disabled={isBusy || !isConfirmed}
        >
          {isBusy ? 'Running…' : (action.label ?? action.name)}
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {problem && <ProblemBox problem={problem} />}
      {result && (
        <div role="status">
          <h3>Result</h3>
          <pre tabIndex={0}>{formatJson(result.value, 2)}</pre>
        </div>
      )}
    </form>
  );
}

function InputField({
  field,
  text,
  onText,
}: {
  field: ActionInputField;
  text: string;
  onText: (text: string) => void;
}) {
  const { name, label, type, required = false } = field;
  const title = (
    <span>
      {label ?? name} {!required && <span class="help">optional</span>}
    </span>
  );
  if (type === 'boolean') {
    return (
      <label>
        {title}
        <select
          value={text}
          required={required}
          onChange={(event) => onText(event.currentTarget.value)}
        >
          <option value="">not set</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      </label>
    );
  }
  if (type === 'json') {
    return (
      <label>
        {title}
        <textarea
          rows={3}
          required={required}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </label>
    );
  }
  const mode = type === 'integer' ? 'numeric' : type === 'number' ? 'decimal' : 'text';
  return (
    <label>
      {title}
      {type === 'timestamp' && <span class="help">such as 2026-01-31T12:00:00Z</span>}
      <input
        inputMode={mode}
        required={required}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}

type Texts = Readonly<Record<string, string>>;

function createTexts(
  fields: readonly ActionInputField[] | null,
  input: Readonly<Record<string, unknown>>,
): Texts {
  if (fields === null) return { '': Object.keys(input).length === 0 ? '' : formatJson(input) };
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const value = input[name];
      if (value === undefined || value === null) return [];
      const isText = type !== 'json' && typeof value !== 'object';
      return [[name, isText ? String(value) : formatJson(value)]];
    }),
  );
}

type ReadInput =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly field: string; readonly reason: string };

/** The host validates the input again. */
function readInput(fields: readonly ActionInputField[] | null, texts: Texts): ReadInput {
  if (fields === null) {
    const text = texts[''] ?? '';
    if (text.trim() === '') return { ok: true, input: undefined };
    try {
      return { ok: true, input: parseJson(text) };
    } catch {
      return { ok: false, field: 'input', reason: 'expected JSON' };
    }
  }
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text === '' && field.type !== 'string') continue;
    if (text === '' && !field.required) continue;
    try {
      input[field.name] = readValue(field, text);
    } catch (error) {
      return { ok: false, field: field.name, reason: String((error as Error).message) };
    }
  }
  return { ok: true, input };
}

function readValue({ type }: ActionInputField, text: string): unknown {
  if (type === 'boolean') return text === 'true';
  if (type === 'json') {
    try {
      return parseJson(text);
    } catch {
      throw new Error('expected JSON');
    }
  }
  if (type === 'integer') {
    if (!/^\s*-?\d+\s*$/.test(text)) throw new Error('expected a whole number');
    return parseNumber(text);
  }
  if (type === 'number') return parseNumber(text);
  return text;
}

function createInputProblem(field: string, reason: string): Problem {
  return {
    status: 0,
    code: 'validation_failed',
    title: 'Check the input',
    detail: 'the action was not invoked',
    request_id: null,
    errors: [{ field, reason }],
  };
}
