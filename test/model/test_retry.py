#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The retry rules against sequences made by hand from the specification."""

import unittest

from weftmodel import flit as fl
from weftmodel import retry


class RxlRules(unittest.TestCase):
    def test_numbers_begin_at_1_and_wrap_over_0(self):
        rx = retry.RxlReceiver()
        self.assertEqual(rx.acknowledged, 0)
        for i in range(1, 2050):
            self.assertEqual(rx.take(i % 1024, i), retry.DELIVERED)
            self.assertEqual(rx.acknowledged, i % 1024)
        self.assertEqual(rx.delivered, list(range(1, 2050)))

    def test_a_gap_is_known_exactly_and_filled_one_by_one(self):
        rx = retry.RxlReceiver()
        self.assertEqual([rx.take(n, n) for n in (1, 3, 6, 3)],
                         [retry.DELIVERED, retry.HELD, retry.HELD, retry.DUPLICATE])
        self.assertEqual((rx.missing(), rx.acknowledged), ([2, 4, 5], 1))
        self.assertEqual([rx.take(n, n) for n in (5, 2)], [retry.HELD, retry.DELIVERED])
        self.assertEqual((rx.missing(), rx.acknowledged, rx.delivered), ([4], 3, [1, 2, 3]))
        rx.take(4, 4)
        self.assertEqual((rx.missing(), rx.acknowledged, rx.delivered),
                         ([], 6, [1, 2, 3, 4, 5, 6]))

    def test_without_an_rx_buffer_acceptance_is_in_turn_only(self):
        rx = retry.RxlReceiver(selective=False)
        self.assertEqual([rx.take(n, n) for n in (1, 3, 2, 3)],
                         [retry.DELIVERED, retry.REFUSED, retry.DELIVERED, retry.DELIVERED])
        rx = retry.RxlReceiver(rx_flits=1)
        self.assertEqual([rx.take(n, n) for n in (2, 3)], [retry.HELD, retry.REFUSED])

    def test_without_gap_decoding_drop_and_corruption_look_alike(self):
        rx = retry.RxlReceiver(gap_decoding=False)
        self.assertEqual([rx.take(n, n) for n in (1, 3, 1, None, 2)],
                         [retry.DELIVERED, retry.BAD, retry.BAD, retry.BAD, retry.DELIVERED])

    def test_a_nop_uses_no_number_and_shows_a_lost_tail(self):
        rx = retry.RxlReceiver()
        self.assertEqual([rx.take(n, n, nop) for n, nop in ((1, 0), (2, 1), (2, 1), (2, 0))],
                         [retry.DELIVERED, retry.NOP, retry.NOP, retry.DELIVERED])
        rx.take(5, None, True)
        self.assertEqual((rx.missing(), rx.acknowledged), ([3, 4], 2))
        rx.take(2, None, True)      # an old one says nothing
        self.assertEqual(rx.missing(), [3, 4])

    def test_the_newest_flit_again_is_a_duplicate(self):
        rx = retry.RxlReceiver()
        self.assertEqual([rx.take(1, 1), rx.take(1, 1)], [retry.DELIVERED, retry.DUPLICATE])

    def test_the_window(self):
        tx = retry.RxlSender()
        for i in range(511):
            self.assertEqual(tx.send(i), i + 1)
        self.assertRaises(ValueError, tx.send, 511)
        self.assertTrue(tx.ack(1))
        self.assertEqual(tx.send(511), 512)

    def test_acks_out_of_the_window_change_nothing(self):
        for number in range(1024):
            tx = retry.RxlSender()
            for i in range(20):
                tx.send(i)
            tx.ack(5)
            self.assertEqual(tx.ack(number), 5 <= number <= 20, number)
            self.assertEqual(tx.oldest, number + 1 if 5 <= number <= 20 else 6)

    def test_naks(self):
        tx = retry.RxlSender()
        for i in range(1, 9):
            tx.send(i)
        self.assertTrue(tx.nak_selective(6))
        self.assertTrue(tx.nak_selective(3))
        self.assertEqual(tx.oldest, 1)      # acknowledges nothing
        self.assertRaises(ValueError, tx.send, 9)
        self.assertEqual([tx.resend(), tx.resend()], [(4, 4), (7, 7)])
        self.assertFalse(tx.nak_selective(8))
        self.assertTrue(tx.nak(5))
        self.assertEqual((tx.oldest, list(tx.replay)), (6, [6, 7, 8]))
        tx.ack(7)
        self.assertEqual(tx.resend(), (8, 8))


def payload(command=fl.ACK, number=0, prior=1):
    return fl.header(fl.CACHEMEM, prior, 0, command, number)


def nop(number, prior=1):
    return fl.header(fl.NOP, prior, 0, fl.EXPLICIT, number)


class CxlRules(unittest.TestCase):
    def setUp(self):
        self.rx = retry.CxlReceiver()

    def test_start(self):
        self.assertEqual(self.rx.acknowledged, 1023)
        self.assertEqual(self.rx.take(nop(1023)), retry.NOP)
        self.assertEqual(self.rx.take(payload(fl.EXPLICIT, 1), "a"), retry.DELIVERED)
        self.assertEqual(self.rx.take(payload(), "b"), retry.DELIVERED)
        self.assertEqual((self.rx.acknowledged, self.rx.delivered), (2, ["a", "b"]))

    def test_numbers_skip_0(self):
        for i in range(1, 3000):
            self.assertEqual(self.rx.take(payload(), i), retry.DELIVERED)
            self.assertEqual(self.rx.acknowledged, (i - 1) % 1023 + 1)

    def test_a_nop_does_not_count(self):
        self.rx.take(payload(), 1)
        self.assertEqual(self.rx.take(fl.header(fl.NOP, 1, 0, fl.ACK, 5)),
                         retry.NOP)
        self.assertEqual(self.rx.take(payload(), 2), retry.DELIVERED)

    def test_a_nak_is_withdrawn_when_nothing_was_lost(self):
        self.rx.take(payload(), 1)
        self.rx.take_bad()
        self.assertEqual(self.rx.naks, 0)
        self.assertEqual(self.rx.take(payload(prior=0), 2), retry.DELIVERED)
        self.assertEqual((self.rx.naks, self.rx.nak), (0, None))

    def test_a_bad_payload_flit_is_asked_for_after_one_more(self):
        self.rx.take(payload(), 1)
        self.rx.take_bad()
        self.assertEqual(self.rx.take(payload(), 3), retry.REFUSED)
        self.assertEqual((self.rx.nak, self.rx.acknowledged), ("standard", 1))
        self.assertEqual(self.rx.take(payload(), 4), retry.REFUSED)
        self.assertEqual(self.rx.take(payload(fl.EXPLICIT, 2), 2), retry.DELIVERED)
        self.assertEqual(self.rx.take(payload(), 3), retry.DELIVERED)
        self.assertEqual((self.rx.naks, self.rx.delivered), (1, [1, 2, 3]))

    def test_two_bad_flits_cannot_be_withdrawn(self):
        self.rx.take_bad()
        self.rx.take_bad()
        self.assertEqual(self.rx.nak, "standard")
        self.rx.take(payload(prior=0))
        self.assertEqual(self.rx.nak, "standard")

    def test_duplicates(self):
        for i in range(1, 4):
            self.rx.take(payload(fl.EXPLICIT, i), i)
        for i in (1, 2, 3):     # the newest one too
            self.assertEqual(self.rx.take(payload(fl.EXPLICIT, i), i), retry.DUPLICATE)
        self.assertEqual((self.rx.naks, self.rx.delivered), (0, [1, 2, 3]))

    def test_a_number_ahead_shows_a_loss_and_no_number_hides_it(self):
        self.rx.take(payload(fl.EXPLICIT, 1), 1)
        self.assertEqual(self.rx.take(payload(), 3), retry.DELIVERED)   # 2 was lost: the weakness
        self.assertEqual(self.rx.take(payload(fl.EXPLICIT, 4), 4), retry.REFUSED)
        self.assertEqual((self.rx.nak, self.rx.acknowledged), ("standard", 2))

    def test_selective(self):
        rx = retry.CxlReceiver(selective=True)
        rx.take(payload(), 1)
        rx.take_bad()
        self.assertEqual([rx.take(payload(), i) for i in (3, 4)], [retry.HELD] * 2)
        self.assertEqual((rx.nak, rx.acknowledged), ("selective", 1))
        self.assertEqual(rx.take(payload(fl.EXPLICIT, 2), 2), retry.DELIVERED)
        self.assertEqual((rx.nak, rx.delivered), (None, [1, 2, 3, 4]))

    def test_selective_falls_back(self):
        rx = retry.CxlReceiver(selective=True, rx_flits=1)
        rx.take_bad()
        self.assertEqual([rx.take(payload(), i) for i in (2, 3)], [retry.HELD, retry.REFUSED])
        self.assertEqual((rx.nak, rx.buffer), ("standard", {}))
        rx = retry.CxlReceiver(selective=True)
        rx.take_bad()
        rx.take(payload(), 2)
        rx.take_bad()
        self.assertEqual((rx.nak, rx.buffer), ("standard", {}))

    def test_a_number_out_of_range_goes_standard(self):
        rx = retry.CxlReceiver(selective=True)
        self.assertEqual(rx.take(payload(fl.EXPLICIT, 512), 0), retry.REFUSED)
        self.assertEqual(rx.nak, "standard")

    def test_sender(self):
        tx = retry.CxlSender()
        for i in range(1, 6):
            tx.send(i)
        self.assertFalse(tx.ack(0))
        self.assertFalse(tx.ack(6))
        self.assertTrue(tx.ack(1023))
        self.assertEqual(tx.oldest, 1)
        self.assertTrue(tx.nak_selective(2))
        self.assertEqual((tx.oldest, list(tx.replay)), (3, [3]))
        self.assertTrue(tx.nak(2))
        self.assertEqual(list(tx.replay), [3, 4, 5])


if __name__ == "__main__":
    unittest.main()
