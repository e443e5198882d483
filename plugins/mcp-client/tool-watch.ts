import { createHash } from 'node:crypto';
import { canonicalizeValue } from '../../core/contract/canonical-value.js';
import type { Log } from '../../core/contract/index.js';
import { forEachInSlices } from '../shared/transport.js';
import { describeProblem } from './describe-problem.js';
import { findToolProblem } from './header-parameters.js';
import { IS_AMBIGUOUS, listPages } from './list-pages.js';
import type { Session } from './session.js';

const MAX_ABSENCES = 1_000;

const INTERVAL_MS = 60_000;
/** The least pause between lists of a server that announces changes; it doubles while nothing differs. */
const MIN_PAUSE_MS = 1_000;
/** A server that changes large lists all the time takes this small a share of the host. */
const PAUSE_RATIO = 20;
/** When a missing tool is looked for again, before it counts as removed. */
const ABSENCE_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;

export interface ListedTool {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  /** Whether the server lists another tool of this name. */
  readonly isAmbiguous?: boolean;
}

/** The digest of all that a server says of a tool to its callers. */
export function digestTool(tool: ListedTool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const pinned = { name, title, description, inputSchema, outputSchema, annotations };
  const text = canonicalizeValue(pinned);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Lists all tools of a server, like `listPages`. */
export async function listTools(session: Session): Promise<readonly ListedTool[]> {
  if (!session.offers('tools')) return [];
  const tools = await listPages(session, 'tools/list');
  return [...tools].map(([name, tool]) => ({ ...tool, name, isAmbiguous: IS_AMBIGUOUS in tool }));
}

interface KnownTool {
  readonly digest: string;
  readonly inputSchema: unknown;
  /** Why it must not be called; `null` for a good tool. */
  readonly problem: string | null;
}

interface Absence {
  /** How often the tool was looked for again. */
  attempts: number;
  nextAt: number;
}

/** Follows the tools of one session. */
export class ToolWatch {
  readonly #session: Session;
  readonly #log: Log;
  readonly #onListed: (tools: ToolWatch) => void;
  readonly #absences = new Map<string, Absence>();
  #tools: ReadonlyMap<string, KnownTool> = new Map();
  #problem: string | null = 'the tools are not listed yet';
  #timer: NodeJS.Timeout | undefined;
  #isListing = false;
  #isListed = false;
  #isEnded = false;
  #listedAt = 0;
  #changedAt: number | null = null;
  #pauseMs = MIN_PAUSE_MS;
  /** The pause that a list of this size needs. */
  #costMs = 0;

  /** @param onListed called after each list */
  constructor(session: Session, log: Log, onListed: (tools: ToolWatch) => void) {
    this.#session = session;
    this.#log = log;
    this.#onListed = onListed;
    void session.ended.then(() => {
      this.#isEnded = true;
      clearTimeout(this.#timer);
    });
  }

  /** The error of the last list, for operators; `null` after a success. */
  get problem(): string | null {
    return this.#problem;
  }

  get size(): number {
    return this.#tools.size;
  }

  /** Whether the tools were listed at least once. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Returns `undefined` for a tool that the last list lacks. */
  find(name: string): KnownTool | undefined {
    return this.#tools.get(name);
  }

  /** Whether a tool that a call needs is still looked for; begins to look for it. */
  isSought(name: string): boolean {
    const absence = this.#absences.get(name);
    if (absence !== undefined) return absence.attempts < ABSENCE_DELAYS_MS.length;
    if (this.#absences.size >= MAX_ABSENCES) return false;
    this.#absences.set(name, { attempts: 0, nextAt: performance.now() + ABSENCE_DELAYS_MS[0] });
    this.#schedule();
    return true;
  }

  /** Called when the server announces a change. */
  announce(): void {
    this.#changedAt ??= performance.now();
    this.#schedule();
  }

  /** Lists the tools. A list that fails is no change: the last one stays. */
  async refresh(): Promise<void> {
    if (this.#isListing || this.#isEnded) return;
    this.#isListing = true;
    const wasAnnounced = this.#changedAt !== null;
    this.#changedAt = null;
    try {
      const tools = await listTools(this.#session);
      const isChanged = await this.#replace(tools);
      this.#problem = null;
      this.#onListed(this);
      if (isChanged) this.#pauseMs = Math.max(MIN_PAUSE_MS, this.#costMs);
      else if (wasAnnounced) this.#pauseMs = Math.min(2 * this.#pauseMs, INTERVAL_MS);
    } catch (error) {
      this.#problem = describeProblem(error);
      this.#pauseMs = Math.min(2 * this.#pauseMs, INTERVAL_MS);
      if (!this.#isEnded) this.#log.warn({ reason: this.#problem }, 'tools not listed');
    } finally {
      this.#isListing = false;
      this.#listedAt = performance.now();
      this.#schedule();
    }
  }

  /** @returns whether a tool differs */
  async #replace(tools: readonly ListedTool[]): Promise<boolean> {
    const before = this.#tools;
    const after = new Map<string, KnownTool>();
    const startedAt = performance.now();
    await forEachInSlices(tools, (tool) => {
      const { name, inputSchema } = tool;
      const problem = findToolProblem(tool);
      // A tool with a problem is never called, and needs no digest.
      after.set(name, { digest: problem === null ? digestTool(tool) : '', inputSchema, problem });
      return true;
    });
    const now = performance.now();
    this.#costMs = Math.min(PAUSE_RATIO * (now - startedAt), INTERVAL_MS);
    for (const [name, absence] of this.#absences) {
      if (after.has(name)) this.#absences.delete(name);
      else if (absence.nextAt <= now) {
        absence.attempts += 1;
        absence.nextAt = now + (ABSENCE_DELAYS_MS[absence.attempts] ?? Number.POSITIVE_INFINITY);
      }
    }
    this.#tools = after;
    this.#isListed = true;
    if (before.size !== after.size) return true;
    return [...after].some(([name, { digest }]) => before.get(name)?.digest !== digest);
  }

  #schedule(): void {
    if (this.#isEnded || this.#isListing) return;
    clearTimeout(this.#timer);
    const due = [this.#listedAt + INTERVAL_MS, ...this.#dueAbsences()];
    const isDue = this.#changedAt !== null || this.#problem !== null;
    if (isDue) due.push(this.#listedAt + this.#pauseMs);
    const delayMs = Math.max(0, Math.min(...due) - performance.now());
    // It does not keep a process alive that has nothing else to do.
    this.#timer = setTimeout(() => void this.refresh(), delayMs).unref();
  }

  #dueAbsences(): number[] {
    return [...this.#absences.values()].map(({ nextAt }) => nextAt);
  }
}
