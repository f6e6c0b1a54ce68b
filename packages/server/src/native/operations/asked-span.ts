import { type FigureSpan, figureSpan, parseAs } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { queryValue } from '../../http/query.ts'

const asked = z.object({ span: figureSpan.default('hour') })

/** What the query `span` means. */
export const SPAN = 'hour (the default): the last hour by minutes; day: the last day by ten minutes'

/** How far back a request asks for figures. @throws SpoutError InvalidField */
export const askedSpan = (request: FastifyRequest): FigureSpan =>
  parseAs(asked, { span: queryValue(request, 'span') ?? undefined }).span
