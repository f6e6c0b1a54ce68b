import type { FC } from 'react'
import { Page } from '../../parts/page.tsx'

export const DetailPage: FC = () => <Page title="One">…</Page>
