import type { Principal, Turn } from '@spout/admission/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { noteAnswer } from '../audit/audit-notes.ts'
import { requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import { isBalancing } from '../authn/balancer.ts'
import { suffice } from '../authn/roles.ts'
import { DOCUMENT_BODY_LIMIT_BYTES, DOCUMENT_JSON_LIMITS, NATIVE_BODY_LIMIT_BYTES, type Surface } from '../http/host.ts'
import { sendDocument } from '../http/long-answer.ts'
import { isLongBody } from '../http/long-body.ts'
import { answerWithProblems } from '../http/problem.ts'
import { shareOf } from '../turns/share-of.ts'
import { publicIdIn, SEEN_KINDS } from './collections.ts'
import { LiveChanges } from './live/live-changes.ts'
import { LoadBalancerRows } from './live/load-balancer-rows.ts'
import { renderOpenApi } from './openapi.ts'
import type { NativeContext } from './operations/context.ts'
import { isDryRun, previewOf } from './operations/dry-run.ts'
import type { Route } from './operations/route.ts'
import { SeenConnectors } from './operations/seen-connectors.ts'
import { etagOf } from './operations/shown.ts'
import { ROUTES } from './routes.ts'

/** The budget of a project's bodies holds two of them. */
const LONG_BODIES = { bodyLimit: DOCUMENT_BODY_LIMIT_BYTES, config: { jsonLimits: DOCUMENT_JSON_LIMITS } } as const

/** Telling pages of changes takes the turns of one more project, however many pages there are. */
const SHARE_OF_PAGES = 'pages'

const NOBODY: Principal = { userId: '', userName: '', projectId: null, roles: [], expiresAt: '' }

/** Our own API: the whole model, in its own terms. */
export const nativeApi = (
  parts: Omit<NativeContext, 'closing' | 'connectors' | 'rows' | 'live' | 'loadBalancers'>,
): Surface => ({
  prefix: '/api/v1',
  bodyLimitBytes: NATIVE_BODY_LIMIT_BYTES,
  open: [
    ...ROUTES.filter(({ access }) => access === 'anyone').map(({ method, path }) => `${method} ${path}`),
    '/openapi.json',
  ],
  plugin: async (scope) => {
    const closing = new AbortController()
    // A closing server waits for open requests, so watches must end first.
    scope.addHook('preClose', async () => closing.abort())
    const connectors = new SeenConnectors(parts.clock)
    const { view, status, figures, clock, turns } = parts
    const rows = new LoadBalancerRows({ view, status, figures })
    const live = new LiveChanges({
      ...{ view, status, figures, rows, clock },
      ...{ kinds: SEEN_KINDS, publicId: publicIdIn(view), turn: () => turns.next(SHARE_OF_PAGES) },
    })
    const context: NativeContext = {
      ...parts,
      loadBalancers: parts.admission,
      connectors,
      rows,
      live,
      closing: closing.signal,
    }
    answerWithProblems(scope)
    for (const known of ROUTES)
      scope.route({
        method: known.method,
        url: known.path,
        ...(known.takesDocument === true && LONG_BODIES),
        handler: (request, reply) => answer(context, known, request, reply),
      })
    scope.get('/openapi.json', (_request, reply) => reply.type('application/json').send(renderOpenApi()))
  },
})

async function answer(context: NativeContext, known: Route, request: FastifyRequest, reply: FastifyReply) {
  const principal = admit(context, known, request)
  if (known.access !== 'anyone') context.connectors.note(principal, request.headers['user-agent'])
  const params = request.params as Readonly<Record<string, string>>
  const again = () => admit(context, known, request)
  const next: Turn = () => context.turns.next(shareOf(principal))
  const turn = isLongBody(request) ? next : null
  const call = { request, reply, principal, params, body: request.body, turn, again }
  if (isDryRun(request, known)) return sendDocument(reply, next, await previewOf(context, known, call))
  const result = await known.handle(context, call)
  // A watch took over the connection, or a long list is being sent.
  if (reply.sent || result === reply) return reply
  reply.code(known.answer.status)
  if (known.path === '/load-balancers/:id' && known.method === 'GET') {
    const current = context.view.get('loadBalancer', params.id ?? '')?.value
    if (current !== undefined) reply.header('etag', etagOf(current))
  }
  if (known.answer.status === 204 || typeof result !== 'object' || result === null) return reply.send()
  noteAnswer(request, result)
  return sendDocument(reply, next, result)
}

function admit(context: NativeContext, known: Route, request: FastifyRequest): Principal {
  if (known.access === 'anyone') return NOBODY
  const { principal } = sessionOf(context.authenticator, request)
  if (isBalancing(known) && suffice(principal.roles, 'balancer')) return principal
  if (known.access !== 'user') requireRole(principal, known.access)
  return principal
}
