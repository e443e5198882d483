/** The descriptor changes since the start. */
export class ReloadCounts {
  success = 0;
  failure = 0;
  lastAt = new Date();

  add(success: number, failure: number): void {
    if (success + failure === 0) return;
    this.success += success;
    this.failure += failure;
    this.lastAt = new Date();
  }
}
