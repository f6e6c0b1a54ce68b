/** A condition for readiness. Resolves to null when it holds, else to the reason for people. */
export interface ReadinessCheck {
  readonly name: string
  readonly check: () => Promise<string | null> | string | null
}

/**
 * Null when every check holds, else one line `name: reason` for each that does not. A check that throws does not hold.
 */
export async function whyNotReady(checks: readonly ReadinessCheck[]): Promise<string | null> {
  const lines = await Promise.all(
    checks.map(async ({ name, check }) => {
      const reason = await reasonOf(check)
      return reason === null ? [] : [`${name}: ${reason}`]
    }),
  )
  return lines.flat().join('\n') || null
}

async function reasonOf(check: ReadinessCheck['check']): Promise<string | null> {
  try {
    return await check()
  } catch (error) {
    return error instanceof Error ? error.message : 'failed'
  }
}
