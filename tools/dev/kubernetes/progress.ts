export interface ProgressOptions {
  readonly everyMs: number
  /** Called with the elapsed seconds every `everyMs`. */
  readonly say: (seconds: number) => void
}

/** Waits for long work, and reports now and then that it goes on. */
export async function withProgress<T>(work: Promise<T>, { everyMs, say }: ProgressOptions): Promise<T> {
  const startedAt = performance.now()
  const timer = setInterval(() => say((performance.now() - startedAt) / 1000), everyMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

/** `40 s`, `2 min 0 s`. */
export function describeDuration(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
