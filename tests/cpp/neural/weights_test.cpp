#include "carc/neural/weights.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.hpp"

namespace carc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Weights small() {
  Weights out;
  out.metadata = {{"format", "carc-feature-net"}, {"encoder", "3"}, {"note", "for \"tests\", \xC3\xA9\n"}};
  out.tensors["a"] = {{2, 3}, {1, 2, 3, 4, 5, -0.5f}};
  out.tensors["b"] = {{2}, {0, 1e-30f}};
  out.tensors["c"] = {{}, {7}};
  return out;
}

Weights parse(const std::string& bytes) { return weights_from_bytes(std::as_bytes(std::span(bytes)), "file"); }

std::string bytes_of(Weights weights) { return weights_to_bytes(weights, "file"); }

std::string little_endian(std::uint64_t value) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &value, 8);
  return out;
}

std::string with_header(const std::string& header, const std::string& data) {
  return little_endian(header.size()) + header + data;
}

// A file in its parts.
struct Parts {
  std::string header, data;

  static Parts of(const std::string& bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    return {bytes.substr(8, length), bytes.substr(8 + length)};
  }
  Json json() const { return Json::parse(header); }
};

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The file with this header and this data, with the checksum that belongs to it.
std::string signed_file(Json header, const std::string& data) {
  if (header.contains("__metadata__") && header["__metadata__"].is_object()) {
    Json plain = header;
    plain["__metadata__"].erase("checksum");
    const std::string text = plain.dump();
    header["__metadata__"]["checksum"] =
        hexadecimal(checksum64(std::as_bytes(std::span(data)), checksum64(std::as_bytes(std::span(text)))));
  }
  return with_header(header.dump(), data);
}

std::string with_values(std::size_t at, float value) {
  Parts parts = Parts::of(bytes_of(small()));
  std::memcpy(parts.data.data() + at * sizeof value, &value, sizeof value);
  return signed_file(parts.json(), parts.data);
}

// --- What is written is read ----------------------------------------------------------------------------------------

TEST(Weights, ComeBackFromTheirBytes) {
  Weights weights = small();
  const std::string bytes = weights_to_bytes(weights, "file");
  EXPECT_EQ(parse(bytes), weights);
  EXPECT_EQ(weights.metadata.at("checksum").size(), 16u);
  EXPECT_EQ(bytes.size() % 4, 0u);
}

TEST(Weights, AreWrittenAlikeWhateverChecksumTheyCameWith) {
  Weights other = small();
  other.metadata["checksum"] = "from elsewhere";
  EXPECT_EQ(bytes_of(other), bytes_of(small()));
}

TEST(Weights, MayHaveNoTensors) {
  Weights weights = small();
  weights.tensors.clear();
  const std::string bytes = weights_to_bytes(weights, "file");
  EXPECT_EQ(parse(bytes), weights);
}

TEST(Weights, AreReadWhateverTheOrderOfTheTensors) {
  const Parts parts = Parts::of(bytes_of(small()));
  Json header = parts.json();  // c before a and b
  header["c"]["data_offsets"] = {0, 4};
  header["a"]["data_offsets"] = {4, 28};
  header["b"]["data_offsets"] = {28, 36};
  const Weights read = parse(signed_file(header, parts.data.substr(32) + parts.data.substr(0, 32)));
  EXPECT_EQ(read.tensors, small().tensors);
}

TEST(Weights, AreReadWithSpacesInTheHeader) {
  const Parts parts = Parts::of(bytes_of(small()));
  EXPECT_EQ(parse(with_header(parts.json().dump(2) + "  \n", parts.data)).tensors, small().tensors);
}

TEST(Weights, ChecksumIsFnv1a) {
  const std::string text = "foobar";  // Fowler, Noll and Vo's test vectors
  EXPECT_EQ(checksum64(std::as_bytes(std::span(text))), 0x85944171F73967E8u);
  EXPECT_EQ(checksum64({}), 0xCBF29CE484222325u);
}

// --- Damaged and hostile files --------------------------------------------------------------------------------------

struct Damage {
  const char* name;
  std::function<std::string()> file;
  const char* message;
};

std::string header_with(const std::function<void(Json&)>& change) {
  const Parts parts = Parts::of(bytes_of(small()));
  Json header = parts.json();
  change(header);
  return signed_file(header, parts.data);
}

std::string text_header(const std::string& header) { return with_header(header, std::string(36, '\0')); }

std::string replaced(const std::string& from, const std::string& to) {
  Parts parts = Parts::of(bytes_of(small()));
  parts.header.replace(parts.header.find(from), from.size(), to);
  return with_header(parts.header, parts.data);
}

Json& metadata(Json& header) { return header["__metadata__"]; }

const float kNaN = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

const Damage kDamages[] = {
    // The outside
    {"Empty", [] { return std::string(); }, "found 0 bytes"},
    {"Short", [] { return std::string("\3\0\0", 3); }, "found 3 bytes"},
    {"OnlyALength", [] { return little_endian(2); }, "found 8 bytes"},
    {"HeaderOfNoBytes", [] { return little_endian(0) + std::string(40, ' '); }, "a header of 0 bytes"},
    {"HeaderBeyondTheFile", [] { return little_endian(400) + "{}"; }, "a header of 400 bytes, expected 2 to 2"},
    {"HeaderOfAbsurdLength", [] { return little_endian(~0ull) + "{}"; }, "a header of 18446744073709551615 bytes"},
    {"HeaderLengthThatWrapsRound", [] { return little_endian(~0ull - 7) + "{}"; }, "a header of"},
    {"HeaderTooLong", [] { return text_header("{" + std::string(1 << 20, ' ') + "}"); }, "expected 2 to 1048576"},
    {"Truncated", [] { return bytes_of(small()).substr(0, bytes_of(small()).size() - 1); }, "tensor 'c': found bytes"},
    {"TrailingBytes", [] { return bytes_of(small()) + "x"; }, "found 1 bytes after the last tensor"},
    {"Pickle", [] { return std::string("\x80\x04\x95\x1f\0\0\0\0\0\0\0}\x94(\x8c", 15) + std::string(40, 'x'); },
     "a header of"},
    {"Zip", [] { return "PK\3\4" + std::string(200, '\0'); }, "header"},
    // The header as JSON
    {"NotJson", [] { return text_header("{hello}"); }, "header is not valid JSON"},
    {"CutJson", [] { return text_header(R"({"a":{"dtype":"F32")"); }, "header is not valid JSON"},
    {"List", [] { return text_header("[1,2]"); }, "expected '{'"},
    {"Number", [] { return text_header("17"); }, "expected '{'"},
    {"SpaceFirst", [] { return text_header(" {}"); }, "expected '{'"},
    {"ByteOrderMark", [] { return text_header("\xEF\xBB\xBF{}"); }, "expected '{'"},
    {"TwoDocuments", [] { return text_header("{}{}"); }, "header is not valid JSON"},
    {"NulInTheHeader", [] { return text_header(std::string("{}\0\0", 4)); }, "found a NUL byte"},
    {"NoUtf8", [] { return replaced("\xC3\xA9", "\xC3("); }, "header is not valid JSON"},
    {"NumberTooLarge", [] { return replaced("[2,3]", "[1e999]"); }, "header is not valid JSON"},
    {"TensorTwice", [] { return replaced(R"({"__meta)", R"({"a":{},"__meta)"); }, "found the key 'a' twice"},
    {"KeyOfATensorTwice", [] { return replaced(R"({"data_offsets")", R"({"dtype":"F32","data_offsets")"); },
     "found the key 'dtype' twice"},
    {"MetadataTwice", [] { return replaced(R"("encoder":)", R"("encoder":"4","encoder":)"); },
     "found the key 'encoder' twice"},
    {"Deep", [] { return text_header("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"); },
     "more than 3 levels"},
    {"DeepInShape", [] { return replaced("[2,3]", "[[[[2]],3]]"); }, "more than 3 levels"},
    // Metadata
    {"NoMetadata", [] { return header_with([](Json& h) { h.erase("__metadata__"); }); }, "metadata is missing"},
    {"MetadataIsAList", [] { return header_with([](Json& h) { h["__metadata__"] = Json::array(); }); },
     "metadata: found []"},
    {"MetadataOfANumber", [] { return header_with([](Json& h) { metadata(h)["x"] = 3; }); },
     "metadata: 'x': found 3, expected a text"},
    {"NoFormat", [] { return header_with([](Json& h) { metadata(h).erase("format"); }); }, "'format' is missing"},
    {"NoEncoder", [] { return header_with([](Json& h) { metadata(h).erase("encoder"); }); }, "'encoder' is missing"},
    {"NulInMetadata", [] { return header_with([](Json& h) { metadata(h)["x"] = std::string(1, '\0'); }); },
     "'x': found a NUL"},
    {"NoChecksum", [] { return replaced(R"("checksum":)", R"("checksam":)"); }, "'checksum' is missing"},
    {"ChecksumOfOtherForm", [] { return replaced(R"("checksum":")", R"("checksum":"0x)"); }, "16 hexadecimal digits"},
    {"WrongChecksum",
     [] {
       Parts parts = Parts::of(bytes_of(small()));
       parts.data[5] ^= 1;
       return with_header(parts.header, parts.data);
     },
     "checksum: found"},
    {"OtherNote", [] { return replaced("tests", "jests"); }, "checksum: found"},
    {"OtherEncoderWithTheOldChecksum", [] { return replaced(R"("encoder":"3")", R"("encoder":"4")"); },
     "checksum: found"},
    // Tensors
    {"TensorIsAText", [] { return header_with([](Json& h) { h["a"] = "F32"; }); }, "tensor 'a': found \"F32\""},
    {"NoType", [] { return header_with([](Json& h) { h["a"].erase("dtype"); }); }, "'a': 'dtype' is missing"},
    {"NoShape", [] { return header_with([](Json& h) { h["a"].erase("shape"); }); }, "'a': 'shape' is missing"},
    {"NoOffsets", [] { return header_with([](Json& h) { h["a"].erase("data_offsets"); }); },
     "'a': 'data_offsets' is missing"},
    {"AnotherKey", [] { return header_with([](Json& h) { h["a"]["code"] = "x"; }); }, "'a': found the key 'code'"},
    {"HalfPrecision", [] { return header_with([](Json& h) { h["a"]["dtype"] = "F16"; }); }, "dtype: found \"F16\""},
    {"DoublePrecision", [] { return header_with([](Json& h) { h["a"]["dtype"] = "F64"; }); }, "dtype: found \"F64\""},
    {"TypeIsANumber", [] { return header_with([](Json& h) { h["a"]["dtype"] = 32; }); }, "dtype: found 32"},
    {"ShapeIsANumber", [] { return header_with([](Json& h) { h["a"]["shape"] = 6; }); }, "shape: found 6"},
    {"NegativeSize", [] { return header_with([](Json& h) { h["a"]["shape"] = {-2, -3}; }); }, "shape: found -2"},
    {"FractionalSize", [] { return header_with([](Json& h) { h["a"]["shape"] = {2.5}; }); }, "shape: found 2.5"},
    {"SizeIsAText", [] { return header_with([](Json& h) { h["a"]["shape"] = {"6"}; }); }, "shape: found \"6\""},
    {"SizeOfZero", [] { return header_with([](Json& h) { h["a"]["shape"] = {0, 6}; }); }, "found shape [0,6]"},
    {"HugeSize", [] { return header_with([](Json& h) { h["a"]["shape"] = {~0ull}; }); }, "'a': found shape"},
    {"SizesThatOverflow", [] { return header_with([](Json& h) { h["a"]["shape"] = {1ull << 32, 1ull << 32, 6}; }); },
     "'a': found shape"},
    {"TooManyDimensions", [] { return header_with([](Json& h) { h["a"]["shape"] = {1, 1, 1, 1, 1, 1, 1, 2, 3}; }); },
     "found 9 dimensions"},
    {"OneOffset", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {0}; }); }, "data_offsets: found [0]"},
    {"OffsetsAreTexts", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {"0", "24"}; }); },
     "data_offsets: found \"0\""},
    {"NegativeOffset", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {-24, 0}; }); },
     "data_offsets: found -24"},
    {"OffsetsTurnedRound", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {24, 0}; }); },
     "found bytes 24 to 0"},
    {"OffsetBeyondTheData", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {100, 124}; }); },
     "found bytes 100 to 124"},
    {"HugeOffset", [] { return header_with([](Json& h) { h["a"]["data_offsets"] = {~0ull - 24, ~0ull}; }); },
     "'a': found bytes"},
    {"OffsetsOfAnotherShape", [] { return header_with([](Json& h) { h["a"]["shape"] = {2, 2}; }); },
     "found 24 bytes of data, expected 16 for shape [2,2]"},
    {"Overlap", [] { return header_with([](Json& h) { h["b"]["data_offsets"] = {20, 28}; }); }, "overlaps another"},
    {"SameBytesTwice", [] { return header_with([](Json& h) { h["d"] = h["a"]; }); }, "overlaps another"},
    {"Hole", [] { return header_with([](Json& h) { h.erase("b"); }); }, "'c' follows a hole"},
    {"HoleAtTheBegin", [] { return header_with([](Json& h) { h.erase("a"); }); }, "'b' follows a hole"},
    {"HoleAtTheEnd", [] { return header_with([](Json& h) { h.erase("c"); }); }, "found 4 bytes after the last tensor"},
    {"NoName", [] { return header_with([](Json& h) { h[""] = h["a"]; }); }, "name of a tensor: found 0 bytes"},
    {"LongName", [] { return header_with([](Json& h) { h[std::string(257, 'x')] = h["a"]; }); }, "found 257 bytes"},
    {"NulInAName", [] { return header_with([](Json& h) { h[std::string("a\0b", 3)] = h["a"]; }); },
     "name of a tensor: found 'a?b'"},
    {"TooManyTensors",
     [] {
       return header_with([](Json& h) {
         for (int i = 0; i < 4097; ++i) h["x" + std::to_string(i)] = 0;
       });
     },
     "tensors, expected at most 4096"},
    {"NaN", [] { return with_values(2, kNaN); }, "tensor 'a': found NaN at position 2"},
    {"Infinity", [] { return with_values(7, kInfinity); }, "tensor 'b': found infinity at position 1"},
    {"MinusInfinity", [] { return with_values(8, -kInfinity); }, "tensor 'c': found infinity at position 0"},
};

class DamagedWeights : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedWeights, AreRefusedByNameOfWhatIsWrong) {
  const std::string message = test::message_of<WeightsError>([] { parse(GetParam().file()); });
  EXPECT_THAT(message, StartsWith("file: "));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_LT(message.size(), 600u);
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedWeights, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

// The content that a changed byte leaves as it was: the spaces behind the header.
TEST(DamagedWeights, AnyChangedBitIsRefusedOrChangesNothing) {
  const std::string bytes = bytes_of(small());
  const Weights weights = parse(bytes);
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    try {
      EXPECT_EQ(parse(damaged), weights) << "bit " << i;
    } catch (const WeightsError&) {
    }
  }
}

TEST(DamagedWeights, AnyCutIsRefused) {
  const std::string bytes = bytes_of(small());
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_THROW(parse(bytes.substr(0, n)), WeightsError) << n;
}

// --- Weights that are not written -----------------------------------------------------------------------------------

TEST(Weights, ThatCouldNotBeReadAreNotWritten) {
  const auto message = [](const std::function<void(Weights&)>& change) {
    Weights weights = small();
    change(weights);
    return test::message_of<WeightsError>([&] { weights_to_bytes(weights, "file"); });
  };
  EXPECT_THAT(message([](Weights& w) { w.metadata.erase("format"); }), HasSubstr("'format' is missing"));
  EXPECT_THAT(message([](Weights& w) { w.metadata["note"] = "\xC3("; }), HasSubstr("no valid UTF-8"));
  EXPECT_THAT(message([](Weights& w) { w.metadata["note"] = std::string(1 << 20, 'x'); }), HasSubstr("a header of"));
  EXPECT_THAT(message([](Weights& w) { w.metadata["note"] = std::string(1, '\0'); }), HasSubstr("NUL"));
  EXPECT_THAT(message([](Weights& w) { w.tensors["a"].shape = {7}; }), HasSubstr("found 6 values, expected 7"));
  EXPECT_THAT(message([](Weights& w) { w.tensors["a"].shape = {-1, 6}; }), HasSubstr("found shape [-1,6]"));
  EXPECT_THAT(message([](Weights& w) { w.tensors["z"] = {{0}, {}}; }), HasSubstr("found shape [0]"));
  EXPECT_THAT(message([](Weights& w) { w.tensors["b"].values[0] = kNaN; }), HasSubstr("'b': found NaN"));
  EXPECT_THAT(message([](Weights& w) { w.tensors[""] = {{1}, {1}}; }), HasSubstr("name of a tensor"));
  EXPECT_THAT(message([](Weights& w) { w.tensors["__metadata__"] = {{1}, {1}}; }), HasSubstr("no tensor"));
}

// --- Files ----------------------------------------------------------------------------------------------------------

class WeightsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("carc_weights_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

TEST_F(WeightsFile, ComesBack) {
  const std::string checksum = write_weights(path("net.safetensors"), small());
  const Weights read = read_weights(path("net.safetensors"), "carc-feature-net", 3);
  EXPECT_EQ(read.tensors, small().tensors);
  EXPECT_EQ(read.text("checksum"), checksum);
  EXPECT_EQ(files(), 1u);
}

TEST_F(WeightsFile, OfAnotherNetworkIsRefused) {
  const std::string file = path("net.safetensors");
  write_weights(file, small());
  EXPECT_EQ(test::message_of<WeightsError>([&] { read_weights(file, "carc-resnet", 3); }),
            file + ": format: found 'carc-feature-net', expected 'carc-resnet'");
  EXPECT_THAT(test::message_of<WeightsError>([&] { read_weights(file, "carc-feature-net", 4); }),
              StartsWith(file + ": encoder: found version '3', expected '4'"));
}

TEST_F(WeightsFile, IsReplacedAtOnce) {
  const std::string file = path("net.safetensors");
  std::ofstream(file) << "something else";
  write_weights(file, small());
  EXPECT_EQ(read_weights(file).tensors, small().tensors);
  EXPECT_EQ(files(), 1u);
}

TEST_F(WeightsFile, StaysAsItWasWhereItCannotBeWritten) {
  std::filesystem::create_directory(path("taken"));
  EXPECT_THAT(test::message_of<WeightsError>([&] { write_weights(path("taken"), small()); }),
              StartsWith(path("taken") + ": cannot write the weights"));
  EXPECT_EQ(files(), 1u);
  EXPECT_THAT(test::message_of<WeightsError>([&] { write_weights(path("nowhere/net"), small()); }),
              StartsWith(path("nowhere/net") + ": cannot write the weights"));
}

TEST_F(WeightsFile, ThatIsNoFileIsRefused) {
  const auto message = [](const std::string& file) {
    return test::message_of<WeightsError>([&] { read_weights(file); });
  };
  EXPECT_THAT(message(path("none")), HasSubstr("cannot open the weights: No such file"));
  EXPECT_THAT(message(folder_.string()), HasSubstr("found a folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(message(path("pipe")), HasSubstr("found no regular file"));
  EXPECT_THAT(message("/dev/zero"), HasSubstr("found no regular file"));
  EXPECT_THAT(message(""), HasSubstr("found the path ''"));
  EXPECT_THAT(message(std::string("a\0b", 3)), HasSubstr("without NUL"));
  EXPECT_LT(message(std::string(100'000, 'x')).size(), 400u);
}

TEST_F(WeightsFile, ThatIsTooLargeIsRefusedUnread) {
  std::ofstream(path("large")) << "x";
  std::filesystem::resize_file(path("large"), (1ull << 30) + 1);  // sparse
  EXPECT_THAT(test::message_of<WeightsError>([&] { read_weights(path("large")); }),
              HasSubstr("found 1073741825 bytes, expected at most 1073741824"));
}

// --- What a network asks for ----------------------------------------------------------------------------------------

TEST(Weights, GiveTensorsOfTheShapeAskedFor) {
  const Weights weights = small();
  EXPECT_EQ(weights.tensor("a", {2, 3}).values[5], -0.5f);
  EXPECT_EQ(&weights.tensor("a", {-1, 3}), &weights.tensors.at("a"));
  const auto message = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    return test::message_of<WeightsError>([&] { weights.tensor(name, shape); });
  };
  EXPECT_EQ(message("a", {3, 2}), "tensor 'a': found shape [2, 3], expected [3, 2]");
  EXPECT_EQ(message("a", {-1, 3, 1}), "tensor 'a': found shape [2, 3], expected [any, 3, 1]");
  EXPECT_EQ(message("x", {1}), "tensor 'x' is missing");
}

TEST(Weights, SayWhichTensorsAreMissingOrTooMany) {
  const Weights weights = small();
  EXPECT_NO_THROW(weights.expect_tensors({"c", "b", "a"}));
  EXPECT_EQ(test::message_of<WeightsError>([&] { weights.expect_tensors({"a", "b", "c", "d"}); }),
            "tensor 'd' is missing");
  EXPECT_EQ(test::message_of<WeightsError>([&] { weights.expect_tensors({"a", "b"}); }),
            "found the unexpected tensor 'c', the nearest expected one is 'a'");
}

TEST(Weights, GiveTheirMetadata) {
  Weights weights = small();
  EXPECT_EQ(weights.whole("encoder", 1), 3);
  for (const char* wrong : {"", "3x", " 3", "3.0", "99999999999", "0", "11"}) {
    weights.metadata["encoder"] = wrong;
    EXPECT_THAT(test::message_of<WeightsError>([&] { weights.whole("encoder", 1, 10); }),
                HasSubstr("expected a whole number from 1 to 10"));
  }
  EXPECT_EQ(test::message_of<WeightsError>([&] { weights.text("hidden"); }), "metadata: 'hidden' is missing");
}

}  // namespace
}  // namespace carc
