import { describe, expect, test } from 'vitest'
import { timeInName } from './file-name.ts'

/** `YYYY-MM-DD HH:MM:SS` for a reading, with `Z` for an instant, the bare date when the day alone is known. */
function meaning(name: string): string | null {
  const named = timeInName(name)
  if (!named) return null
  if (named.is === 'instant')
    return new Date(named.atMs).toISOString().slice(0, 19).replace('T', ' ').concat('Z')
  const { date, time, seconds } = named.stamp
  return [date, time && `${time}${seconds && `:${seconds}`}`].filter(Boolean).join(' ')
}

describe('names of cameras and phones', () => {
  test.for([
    ['IMG_20260801_203015.jpg', '2026-08-01 20:30:15'],
    ['IMG_20260801_203015123.jpg', '2026-08-01 20:30:15.123'],
    ['IMG_20260801_203015_HDR.jpg', '2026-08-01 20:30:15'],
    ['IMG_20260801_203015~2.jpg', '2026-08-01 20:30:15'],
    ['IMG20260801203015.jpg', '2026-08-01 20:30:15'],
    ['20260801_203015.heic', '2026-08-01 20:30:15'],
    ['20260801_203015(0).jpg', '2026-08-01 20:30:15'],
    ['MVIMG_20260801_203015.jpg', '2026-08-01 20:30:15'],
    ['00000IMG_00000_BURST20260801203015123_COVER.jpg', '2026-08-01 20:30:15.123'],
    ['WP_20260801_20_30_15_Pro.jpg', '2026-08-01 20:30:15'],
    ['WIN_20260801_20_30_15_Pro.jpg', '2026-08-01 20:30:15'],
    ['C360_2026-08-01-20-30-15-123.jpg', '2026-08-01 20:30:15'],
    ['DJI_20260801203015_0001_D.JPG', '2026-08-01 20:30:15'],
    ['2026-08-01 20.30.15.jpg', '2026-08-01 20:30:15'],
    ['2026-08-01 20.30.15-1.jpg', '2026-08-01 20:30:15'],
    ['2026-08-01 20.30.jpg', '2026-08-01 20:30'],
    ['folder/with/IMG_20260801_203015', '2026-08-01 20:30:15'],
    ['C:\\Users\\x\\20260801_203015.jpg', '2026-08-01 20:30:15'],
  ])('%s', ([name, wanted]) => {
    expect(meaning(name!)).toBe(wanted)
  })
})

describe('screenshots', () => {
  test.for([
    ['Screenshot_20260801-203015.png', '2026-08-01 20:30:15'],
    ['Screenshot_2026-08-01-20-30-15-123_com.app.jpg', '2026-08-01 20:30:15'],
    ['Screenshot 2026-08-01 at 20.30.15.png', '2026-08-01 20:30:15'],
    ['Screen Shot 2026-08-01 at 8.30.15 PM.png', '2026-08-01 20:30:15'],
    ['Screenshot 2026-08-01 at 8.30.15\u202fPM.png', '2026-08-01 20:30:15'],
    ['Screenshot 2026-08-01 at 12.05.00 AM.png', '2026-08-01 00:05:00'],
    ['Bildschirmfoto 2026-08-01 um 20.30.15.png', '2026-08-01 20:30:15'],
    ['Captura de pantalla 2026-08-01 a las 20.30.15.png', '2026-08-01 20:30:15'],
    ['Screenshot 2026-08-01 203015.png', '2026-08-01 20:30:15'],
  ])('%s', ([name, wanted]) => {
    expect(meaning(name!)).toBe(wanted)
  })
})

describe('messengers', () => {
  test.for([
    ['IMG-20260801-WA0001.jpg', '2026-08-01'],
    ['IMG-20260801-WA0001(1).jpeg', '2026-08-01'],
    ['WhatsApp Image 2026-08-01 at 20.30.15.jpeg', '2026-08-01 20:30:15'],
    ['WhatsApp Image 2026-08-01 at 8.30.15 PM (1).jpeg', '2026-08-01 20:30:15'],
    ['WhatsApp Bild 2026-08-01 um 20.30.15_ab12cd34.jpg', '2026-08-01 20:30:15'],
    ['PHOTO-2026-08-01-20-30-15.jpg', '2026-08-01 20:30:15'],
    ['signal-2026-08-01-203015.jpg', '2026-08-01 20:30:15'],
    ['signal-2026-08-01-20-30-15-123-1.jpg', '2026-08-01 20:30:15'],
    ['photo_2026-08-01_20-30-15 (2).jpg', '2026-08-01 20:30:15'],
    ['photo_12@01-08-2026_20-30-15.jpg', '2026-08-01 20:30:15'],
    ['viber_image_2026-08-01_20-30-15-123.jpg', '2026-08-01 20:30:15'],
    ['viber image 2026-08-01 , 20.30.15.jpg', '2026-08-01 20:30:15'],
    ['threema-20260801-203015123.jpg', '2026-08-01 20:30:15.123'],
    ['KakaoTalk_Photo_2026-08-01-20-30-15.jpeg', '2026-08-01 20:30:15'],
    ['FB_IMG_1785609015123.jpg', '2026-08-01 18:30:15Z'],
    ['mmexport1785609015123.jpg', '2026-08-01 18:30:15Z'],
  ])('%s', ([name, wanted]) => {
    expect(meaning(name!)).toBe(wanted)
  })
})

describe('names that are in UTC are instants: taken for readings they are two hours off in Berlin', () => {
  test.for([
    ['PXL_20260801_183015123.jpg', '2026-08-01 18:30:15Z'],
    ['PXL_20260801_183015123.MP.jpg', '2026-08-01 18:30:15Z'],
    ['20260801_183015000_iOS.heic', '2026-08-01 18:30:15Z'],
    ['2026-08-01T18_30_15Z.jpg', '2026-08-01 18:30:15Z'],
    ['2026-08-01_18-30-15_UTC.jpg', '2026-08-01 18:30:15Z'],
    ['1785609015123.jpg', '2026-08-01 18:30:15Z'],
  ])('%s', ([name, wanted]) => {
    expect(meaning(name!)).toBe(wanted)
  })
})

describe('a day and no time', () => {
  test.for([
    ['20260801.jpg', '2026-08-01'],
    ['WP_20260801_001.jpg', '2026-08-01'],
    ['IMG_20260801_0001.jpg', '2026-08-01'],
    ['IMG_20260801_999999.jpg', '2026-08-01'],
    ['lunch 2026-08-01.jpg', '2026-08-01'],
    ['Essen 01.08.2026.jpg', '2026-08-01'],
  ])('%s', ([name, wanted]) => {
    expect(meaning(name!)).toBe(wanted)
  })
})

describe('names that say nothing: a wrong day is worse than a question', () => {
  test.for([
    'image.jpg',
    'IMG_0042.PNG',
    'IMG_E1234.HEIC',
    'DSC_0042.JPG',
    'DSC0001.DNG',
    'IMG_20261301_203015.jpg',
    'IMG_20260230_203015.jpg',
    '12345678.jpg',
    'photo_5190000000123456789_y.jpg',
    'received_123456789012345.jpeg',
    'Snapchat-1785609015.jpg',
    '9412026080120301577.jpg',
    '20260801-a1b2-4c3d-8e9f-0123456789ab.jpg',
    '20260801abcdef0123456789abcdef01.jpg',
    '01-08-2026.jpg',
    '',
    '.jpg',
    'x'.repeat(5000),
  ])('%s', (name) => {
    expect(meaning(name)).toBeNull()
  })
})
