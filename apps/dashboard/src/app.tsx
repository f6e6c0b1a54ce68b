import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { isExpired, Problem } from './api/problem.ts'
import { keys } from './api/query-keys.ts'
import { Announcer } from './parts/announcer.tsx'
import { pageRouter } from './routes.tsx'

/** Failures of a control plane that restarts are tried again. A refusal is not. */
const mayPass = (error: unknown): boolean => error instanceof Problem && (error.status === 0 || error.status >= 502)

/** What the page has read, and the session's end noticed wherever it shows. */
function pageQueries(): QueryClient {
  const onError = (error: unknown): void => {
    if (isExpired(error)) void client.refetchQueries({ queryKey: keys.session })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => queryKey[0] === keys.session[0] || onError(error),
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: (count, error) => mayPass(error) && count < 60,
        retryDelay: 1000,
        // The stream of changes says what is old.
        staleTime: 30_000,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}

const queries = pageQueries()
const router = pageRouter()

/** The page: what it has read, the region that speaks to screen readers, and the routes. */
export const App = () => (
  <QueryClientProvider client={queries}>
    <Announcer>
      <RouterProvider router={router} />
    </Announcer>
  </QueryClientProvider>
)
