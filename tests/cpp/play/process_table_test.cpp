#include "carc/play/process_table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace carc {
namespace {

// As of a process that ends meanwhile: the file opens, and reading it fails.
TEST(ProcessTable, FileThatCannotBeReadIsEmpty) {
  EXPECT_EQ(read_whole("/proc"), "");
  EXPECT_EQ(read_whole("/proc/self/no such file"), "");
}

TEST(ProcessTable, FileLongerThanOneReadIsWhole) {
  const std::string maps = read_whole("/proc/self/smaps");
  EXPECT_GT(maps.size(), 5000U);
  EXPECT_EQ(maps.back(), '\n');
}

TEST(ProcessTable, OwnProcessIsListed) {
  const auto entry = read_entry(getpid());
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->parent, getppid());
  EXPECT_TRUE(family_of(getppid(), all_processes(), {}).contains(getpid()));
}

}  // namespace
}  // namespace carc
