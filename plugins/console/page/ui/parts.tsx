import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Answer, get } from '../api.js';
import { epoch } from '../live.js';
import { pathToDecision, query, setQuery } from '../location.js';
import type { Problem } from '../types.js';
import { formatTime } from './format-time.js';

/**
 * The heading of a page. It gets the focus when the page opens, so that a screen reader announces
 * it.
 */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    const previous = document.title;
    document.title = `${title} · modgate`;
    return () => {
      document.title = previous;
    };
  }, [title]);
  return (
    <header class="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      {children && <div class="page-tools">{children}</div>}
    </header>
  );
}

/** The words to find, which are part of the address of the page. */
export function FindBox({ placeholder }: { placeholder: string }) {
  return (
    <label class="inline">
      <span class="hidden">Find</span>
      <input
        type="search"
        class="find"
        placeholder={placeholder}
        value={query.value.get('find') ?? ''}
        onInput={(event) => setQuery({ find: event.currentTarget.value })}
      />
    </label>
  );
}

export function Card({
  title,
  tools,
  children,
}: {
  title?: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card">
      {(title || tools) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          {tools}
        </header>
      )}
      {children}
    </section>
  );
}

/** Shows the reason of a failure, and details to find the cause. */
export function ProblemBox({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  const {
    title,
    detail,
    code,
    status,
    request_id: requestId,
    errors,
    next_actions: next,
    request,
  } = problem;
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>{detail}</p>
      {errors && errors.length > 0 && (
        <ul>
          {errors.map(({ field, reason }) => (
            <li key={`${field} ${reason}`}>
              <code>{field}</code> {reason}
            </li>
          ))}
        </ul>
      )}
      {next && next.length > 0 && <p class="next">What to do: {next.join('; ')}.</p>}
      <p class="fine">
        <code>{code}</code>
        {status > 0 && <> · {status}</>}
        {requestId && (
          <>
            {' '}
            · request <code>{requestId}</code>
          </>
        )}
      </p>
      {request && (
        <p>
          <a href={pathToDecision(request.method, request.target)}>Explain this decision</a>
        </p>
      )}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Loading({ label = 'Loading' }: { label?: string }) {
  return (
    <p class="loading" role="status">
      {label}…
    </p>
  );
}

const GOOD = ['live', 'up', 'closed', 'ok', 'success', 'allow', 'granted', 'loaded'];
const WARN = ['waiting', 'stale', 'rolled_back', 'half_open', 'not granted', 'pending restart'];
const BAD = ['refused', 'faulted', 'failed', 'open', 'down', 'deny', 'high danger'];

const TONES: ReadonlyMap<string, string> = new Map([
  ...GOOD.map((state) => [state, 'good'] as const),
  ...[...WARN, 'deprecated', 'medium danger'].map((state) => [state, 'warn'] as const),
  ...BAD.map((state) => [state, 'bad'] as const),
]);

/** A state as a colored word: color is never the only sign. */
export function State({
  value,
  tone = TONES.get(value) ?? 'dim',
}: {
  value: string;
  tone?: string;
}) {
  return <span class={`state ${tone}`}>{value.replaceAll('_', ' ')}</span>;
}

export function Status({ value }: { value: number }) {
  const tone = value >= 500 ? 'bad' : value >= 400 ? 'warn' : 'good';
  return <span class={`state ${tone}`}>{value}</span>;
}

/** `1 module`, `2 modules`. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A time: relative, with the exact time as a hint. */
export function RelativeTime({ at }: { at: string }) {
  const time = new Date(at);
  return (
    <time dateTime={at} title={formatTime(time)}>
      {formatAge(Date.now() - time.getTime())}
    </time>
  );
}

function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

interface Resource<T> {
  readonly data: T | undefined;
  readonly problem: Problem | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Reads a path of the host; `null` reads nothing. The previous data stays until the next response.
 * @param version the data is read again when this changes
 */
export function useResource<T>(path: string | null, version?: string | null): Resource<T> {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<{ path: string | null; answer: Answer<T> | null }>({
    path: null,
    answer: null,
  });
  const restarts = epoch.value;
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    get<T>(path, abort.signal).then(
      (answer) => setState({ path, answer }),
      () => {},
    );
    return () => abort.abort();
  }, [path, version, count, restarts]);
  const { answer } = state;
  const isCurrent = state.path === path;
  return {
    data: answer?.ok ? answer.data : undefined,
    problem: isCurrent && answer !== null && !answer.ok ? answer.problem : null,
    isLoading: path !== null && !isCurrent,
    reload: () => setCount(count + 1),
  };
}

/** Shows that a resource is loading, or why it could not be read. */
export function ResourceState({
  of: { data, problem, isLoading, reload },
}: {
  of: Resource<unknown>;
}) {
  return (
    <>
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {isLoading && data === undefined && <Loading />}
    </>
  );
}

export function ReloadButton({ of: { reload } }: { of: Resource<unknown> }) {
  return (
    <button type="button" onClick={reload}>
      Read again
    </button>
  );
}

export function useTitleFocus(key: string): void {
  useEffect(() => {
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [key]);
}
