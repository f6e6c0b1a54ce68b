import type { FastifyRequest } from 'fastify'

/** Where clients reach this server, without a slash at the end. */
export type BaseUrl = (request: FastifyRequest) => string

/** The configured address, or whatever the client itself called the server by (its answer goes to nobody else). */
export const baseUrl =
  (configured: string | null): BaseUrl =>
  (request) =>
    configured?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`
