import { describe, expect, test } from 'vitest';
import { chartEdges } from '../../src/machines/chart-edges.js';
import { serverMachine, serverSvg } from '../../src/machines/index.js';

interface Area {
  what: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Monospace at 11 px: a character is 6.6 px wide, 9 px high above its line and 3 px below it. */
function labels(svg: string): Area[] {
  return [...svg.matchAll(/<tspan x="(.+?)" y="(.+?)">(.+?)<\/tspan>/g)].map(([, x, y, text = '']) => ({
    what: `label ${text}`,
    left: Number(x),
    top: Number(y) - 9,
    right: Number(x) + 6.6 * text.length,
    bottom: Number(y) + 3,
  }));
}

/** States that hold no other: a label must not cover one. */
function plainStates(svg: string): Area[] {
  const all = [
    ...svg.matchAll(/data-state="(.+?)"><rect x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)"/g),
  ].map(([, what = '', x, y, width, height]) => ({
    what,
    left: Number(x),
    top: Number(y),
    right: Number(x) + Number(width),
    bottom: Number(y) + Number(height),
  }));
  return all.filter(({ what }) => !all.some((other) => other.what.startsWith(`${what}.`)));
}

function arrows(svg: string): Area[] {
  return [...svg.matchAll(/points="(.+?)"/g)].flatMap(([, points = '']) => {
    const corners = points.split(' ').map((point) => point.split(',').map(Number));
    return corners.slice(1).map(([x2 = 0, y2 = 0], index) => {
      const [x1 = 0, y1 = 0] = corners[index] ?? [];
      return {
        what: `arrow ${points}`,
        left: Math.min(x1, x2),
        top: Math.min(y1, y2),
        right: Math.max(x1, x2),
        bottom: Math.max(y1, y2),
      };
    });
  });
}

function covers(a: Area, b: Area): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

describe('the picture of the server machine', () => {
  test('every state and every arrow of the machine has a place', () => {
    expect(serverSvg()).not.toContain('stroke-dasharray');
  });

  test('every label of every arrow is written', () => {
    const written = labels(serverSvg()).map(({ what }) => what);
    const wanted = chartEdges(serverMachine).flatMap((edge) => edge.labels.map((label) => `label ${label}`));
    expect(written.sort()).toEqual(wanted.sort());
  });

  test('no label covers a state, an arrow or another label', () => {
    const svg = serverSvg();
    const texts = labels(svg);
    const others = [...plainStates(svg), ...arrows(svg)];
    const clashes = texts.flatMap((text, index) =>
      [...texts.slice(index + 1), ...others]
        .filter((other) => covers(text, other))
        .map((other) => `${text.what} / ${other.what}`),
    );
    expect(clashes).toEqual([]);
  });

  test('the present state is filled at any depth, and no other', () => {
    const filled = (svg: string) =>
      [...svg.matchAll(/data-state="([^"]+)"><rect [^>]*fill="#1f6feb"/g)].map(([, state]) => state);
    expect(filled(serverSvg({ connected: 'serving' }))).toEqual(['connected.serving']);
    expect(filled(serverSvg({ connected: { closing: 'killing' } }))).toEqual(['connected.closing']);
    expect(filled(serverSvg('error'))).toEqual(['error']);
    expect(filled(serverSvg())).toEqual([]);
  });

  test('it stands alone: one root, all closed, nothing fetched', () => {
    const svg = serverSvg('created');
    expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
    expect(svg).not.toMatch(/href|<script|<style|url\((?!#)/);
    const open: string[] = [];
    for (const [, closing, name, selfClosing] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (closing) expect(open.pop()).toBe(name);
      else if (!selfClosing) open.push(name ?? '');
    }
    expect(open).toEqual([]);
    expect(svg).not.toMatch(/&(?!amp;|lt;|gt;)/);
  });
});
