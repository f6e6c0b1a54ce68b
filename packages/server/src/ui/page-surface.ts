import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorHeaders, errorOf, HTTP_STATUS } from '../http/error-of.ts'
import type { Surface } from '../http/host.ts'
import { CodedFiles } from './coded-files.ts'
import { INDEX, type PageFile, type PageFiles } from './page-files.ts'
import { PAGE_HEADERS } from './page-policy.ts'

const LIMIT_BYTES = 1024
const PREFIX = '/ui'
/** The last part of a path that names a file, not something that the page shows. */
const FILE_NAME = /\.[A-Za-z0-9]+$/
const NOT_BUILT = `The web page was not built here. In a checkout run "npm run build", then restart the control plane.
The packages and the image contain it. The setting ui.directory names another place.
`

/**
 * The web page's files, for everybody: what they show needs a session.
 * @param files null when the page was not built
 */
export const pageSurface = (files: PageFiles | null): Surface => ({
  prefix: PREFIX,
  bodyLimitBytes: LIMIT_BYTES,
  open: ['', '/*'],
  plugin: async (scope) => {
    const coded = new CodedFiles()
    scope.addHook('onSend', (_request, reply, _payload, done) => {
      reply.headers(PAGE_HEADERS)
      done()
    })
    answerErrorsInText(scope)
    scope.setNotFoundHandler((_request, reply) =>
      text(reply.header('allow', 'GET, HEAD'), 405, 'Files are only read.\n'),
    )
    const answer = (request: FastifyRequest, reply: FastifyReply) => {
      if (files === null) return text(reply, 404, NOT_BUILT)
      const at = pathBelow(request)
      // The page's own addresses are relative to a directory.
      if (at === null) return reply.redirect(`${PREFIX}/`, 308)
      const file = fileAt(files, at)
      return file === null ? text(reply, 404, 'There is no such file.\n') : send(request, reply, file, coded)
    }
    // Fastify adds HEAD.
    scope.get('/', answer)
    scope.get('/*', answer)
  },
})

/** Leads a browser that asks for nothing but the host to the page. */
export const frontDoor = (files: PageFiles | null): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  open: ['/'],
  plugin: async (scope) => {
    answerErrorsInText(scope)
    scope.get('/', (request, reply) => {
      if (files === null || !/\btext\/html\b/.test(request.headers.accept ?? '')) return reply.callNotFound()
      return reply.redirect(`${PREFIX}/`, 302)
    })
  },
})

/** Who opens a page reads it, such as that too much was asked at once. */
const answerErrorsInText = (scope: FastifyInstance) =>
  scope.setErrorHandler((error, request, reply) => {
    const known = errorOf(error, request)
    const status = HTTP_STATUS[known.kind]
    return text(reply.headers(errorHeaders(known, status, 'Bearer')), status, `${known.message}\n`)
  })

/** Null for the page without the slash at its end. */
function pathBelow({ url }: FastifyRequest): string | null {
  const [path = ''] = url.split('?', 1)
  return path === PREFIX ? null : path.slice(PREFIX.length + 1)
}

/** The file of that name, or the page for a path that names none; null for a file that is not there. */
function fileAt(files: PageFiles, at: string): PageFile | null {
  const named = files.get(at)
  if (named !== undefined) return named
  return FILE_NAME.test(at) ? null : (files.get(INDEX) ?? null)
}

async function send(request: FastifyRequest, reply: FastifyReply, file: PageFile, coded: CodedFiles) {
  const { coding, content } = await coded.of(file, request.headers['accept-encoding'])
  const etag = `"${file.digest}${coding === null ? '' : `-${coding}`}"`
  reply.headers({ 'cache-control': file.cacheControl, etag, ...(file.isText && { vary: 'accept-encoding' }) })
  if (isKnown(request, etag)) return reply.code(304).send()
  if (coding !== null) reply.header('content-encoding', coding)
  return reply.type(file.type).send(content)
}

/** Whether the client has what `etag` names (RFC 9110, section 13.1.2). */
function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const asked = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? []
  return asked.includes(etag) || asked.includes('*')
}

const text = (reply: FastifyReply, status: number, body: string) =>
  reply.code(status).type('text/plain; charset=utf-8').send(body)
