import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { callBridge } from '../bridge.js';
import { formatJson, parseJson, parseNumber } from '../exact-json.js';
import type { ActionInputField, AdminAction, ModuleStatus, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { ProblemBox } from '../ui/parts.js';
import { PhraseField } from '../ui/phrase-field.js';
import { TextField } from '../ui/text-field.js';

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
    const read = readInput(fields, texts, input);
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

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The button that opened the form is gone, and the focus with it.
    if (document.activeElement !== document.body) return;
    form.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  }, []);

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void invoke();
      }}
    >
      {fields?.map((field) => (
        <InputField
          key={field.name}
          field={field}
          text={textOf(texts, field)}
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
      {confirmation && <p class="note lines">{confirmation.message}</p>}
      {required !== undefined && <PhraseField phrase={required} text={phrase} onText={setPhrase} />}
      <div class="row">
        <FocusableButton
          type="submit"
          class={danger === 'high' ? 'danger' : 'primary'}
          isOff={isBusy || !isConfirmed}
        >
          {isBusy ? 'Running…' : (action.label ?? action.name)}
        </FocusableButton>
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
  const id = useId();
  const { name, label, type, nullable = false } = field;
  const required = field.required === true && !nullable;
  const title = (
    <span>
      {label ?? name}{' '}
      {!required && <span class="help">{field.required ? 'empty for null' : 'optional'}</span>}
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
  if (type === 'string') {
    return (
      <label for={id}>
        {title}
        <TextField id={id} required={required} text={text} onText={onText} />
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
    fields
      .filter(({ name }) => Object.hasOwn(input, name))
      .map((field) => [field.name, toText(field, input[field.name])]),
  );
}

function toText({ type }: ActionInputField, value: unknown): string {
  if (value === undefined || value === null) return '';
  return type !== 'json' && typeof value !== 'object' ? String(value) : formatJson(value);
}

/** A field may have the name of a member that objects inherit. */
function textOf(texts: Texts, { name }: ActionInputField): string {
  return Object.hasOwn(texts, name) ? (texts[name] ?? '') : '';
}

type ReadInput =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly field: string; readonly reason: string };

/**
 * The host validates the input again.
 * @param given the input of the contribution, whose values are kept where their text is unchanged
 */
function readInput(
  fields: readonly ActionInputField[] | null,
  texts: Texts,
  given: Readonly<Record<string, unknown>>,
): ReadInput {
  if (fields === null) {
    const text = texts[''] ?? '';
    if (text.trim() === '') return { ok: true, input: undefined };
    try {
      return { ok: true, input: parseJson(text) };
    } catch {
      return { ok: false, field: 'input', reason: 'expected JSON' };
    }
  }
  const members: [string, unknown][] = [];
  for (const field of fields) {
    const { name, required = false, nullable = false } = field;
    const text = textOf(texts, field);
    const isGiven = Object.hasOwn(given, name) && text === toText(field, given[name]);
    if (isGiven) members.push([name, given[name]]);
    else if (text === '' && required && nullable) members.push([name, null]);
    else if (text !== '') {
      try {
        members.push([name, readValue(field, text)]);
      } catch (error) {
        return { ok: false, field: name, reason: String((error as Error).message) };
      }
    }
  }
  return { ok: true, input: Object.fromEntries(members) };
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
