import type { FigureSpan, Figures, MemberTransition } from '@spout/model'
import { ask } from './ask.ts'

export const readFigures = (id: string, span: FigureSpan, signal: AbortSignal): Promise<Figures> =>
  ask('GET', `/load-balancers/${encodeURIComponent(id)}/figures?${new URLSearchParams({ span })}`, { signal })

/** Newest last. */
export const readMemberHistory = async (id: string, signal: AbortSignal): Promise<readonly MemberTransition[]> =>
  (
    await ask<{ readonly items: readonly MemberTransition[] }>(
      'GET',
      `/load-balancers/${encodeURIComponent(id)}/member-history`,
      { signal },
    )
  ).items
