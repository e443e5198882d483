import type { ModuleEntry } from '../client/module-list.js';
import type { WaitOutcome, WaitSubject } from './wait-tracker.js';

/** Describes the outcome in one line. */
export function describeOutcome(end: WaitOutcome, subject: WaitSubject, timeoutMs: number): string {
  switch (end.outcome) {
    case 'live':
      return `${describeModule(end.module)} is live, with digest ${end.module.digest}`;
    case 'rejected':
      return `${describeModule(end.module)} is ${end.module.state}${describeReason(end.module)}`;
    case 'timeout':
      return `${describeSubject(subject)} is not live after ${timeoutMs} ms: ${describeTimeout(end, subject)}`;
  }
}

function describeTimeout(end: WaitOutcome & { outcome: 'timeout' }, subject: WaitSubject): string {
  const { module, unreachable } = end;
  if (unreachable !== null) return unreachable.message;
  if (module !== null) return `its state is ${module.state}${describeReason(module)}`;
  return subject.kind === 'module'
    ? 'no descriptor has that name'
    : 'no live module has that digest';
}

function describeSubject(subject: WaitSubject): string {
  return subject.kind === 'module' ? `module '${subject.name}'` : subject.digest;
}

function describeModule({ name, file }: ModuleEntry): string {
  return name === null ? file : `module '${name}'`;
}

function describeReason({ file, reason, hint }: ModuleEntry): string {
  const why = reason === null ? '' : `: ${reason}`;
  return ` (${file})${why}${hint === null ? '' : ` (hint: ${hint})`}`;
}
