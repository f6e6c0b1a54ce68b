import type { FigureSpan, Figures, MemberTransition } from '@spout/model'
import { ask } from './ask.ts'

/** @param of the path of what has figures, such as `nodes/ID` */
export const readFigures = (of: string, span: FigureSpan, signal: AbortSignal): Promise<Figures> =>
  ask('GET', `/${of}/figures?${new URLSearchParams({ span })}`, { signal })

/** Newest last. */
export const readMemberHistory = async (id: string, signal: AbortSignal): Promise<readonly MemberTransition[]> =>
  (
    await ask<{ readonly items: readonly MemberTransition[] }>(
      'GET',
      `/load-balancers/${encodeURIComponent(id)}/member-history`,
      { signal },
    )
  ).items
